// SPDX-License-Identifier: MIT
// Definitions of store/directory.hpp.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "cairn/store/checkpoint_directory.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/store/directory_transaction.hpp"
#include "cairn/store/file_sink.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/store/order.hpp"
#include "cairn/store/place_lock.hpp"
#include "cairn/system/paths.hpp"
#include "cairn/system/posix.hpp"

namespace cairn::inline v0_1::stores {

namespace detail {

/// The lock that a store and its copies have, while it is held, and what the owner knows: nobody else removes checkpoints then. Thread-safe.
class shared_lock {
 public:
  /// Names of checkpoints that are there if their directories are.
  struct checkpoints {
    std::set<std::string> names;
    std::uint64_t removals = 0;
  };

  [[nodiscard]] std::shared_ptr<const place_lock> load() const {
    const std::lock_guard guard(mutex_);
    return lock_.lock();
  }
  void store(const std::shared_ptr<const place_lock>& lock) {
    const std::lock_guard guard(mutex_);
    lock_ = lock;
    known_.names.clear();
  }

  [[nodiscard]] checkpoints known() const {
    const std::lock_guard guard(mutex_);
    return known_;
  }
  /// What a list that began with `before` has found.
  void learn(checkpoints before, const std::vector<std::string>& found) {
    before.names.clear();  // those without a step in their names may be replaced by others
    std::copy_if(found.begin(), found.end(), std::inserter(before.names, before.names.end()),
                 [](const std::string& name) { return cairn::detail::parse_checkpoint_name(name).has_value(); });
    const std::lock_guard guard(mutex_);
    if (before.removals == known_.removals) known_ = std::move(before);
  }
  void forget(std::string_view name) {
    const std::lock_guard guard(mutex_);
    known_.names.erase(std::string(name));
    ++known_.removals;
  }

 private:
  mutable std::mutex mutex_;
  std::weak_ptr<const place_lock> lock_;
  checkpoints known_;
};

/// Opens the root of a store; without a descriptor when it is not there and is not to be made.
[[nodiscard]] inline std::shared_ptr<const open_directory> open_root(const std::string& path, bool make) {
  const auto open = [&] { return posix::open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY); };
  open_directory root{path, open()};
  if (!root.fd && errno == ENOENT) {
    if (const auto link = cairn::detail::find_dangling_link(path); !link.empty())
      fail(errc::io, {"the directory ", path, " cannot be opened: ", link,
                      " is a symbolic link to something that is not there, as where a file system is not mounted"});
    errno = ENOENT;
    if (make) {
      posix::make_directories(path);
      root.fd = open();
    }
  }
  if (!root.fd && (make || errno != ENOENT)) fail_io("open the directory", path);
  return std::make_shared<const open_directory>(std::move(root));
}

/// errc::invalid if the root of a store is a checkpoint.
inline void refuse_checkpoint(const open_directory& root) {
  const auto index = posix::open_at(root.fd.get(), std::string(cairn::detail::index_file), O_RDONLY | O_NONBLOCK);
  if (!index && errno == ENOENT) return;
  if (!index) fail_io("look for", root.file(cairn::detail::index_file));
  if (posix::is_regular(index.get()) && begins_as_index(index.get()).value_or(false))
    fail(errc::invalid, {root.path, " is a checkpoint, and no place of checkpoints: give the directory above it"});
}

/// Opens the directory of a published checkpoint. errc::not_found.
[[nodiscard]] inline open_directory open_checkpoint(const std::string& root, std::string_view name) {
  cairn::detail::require_checkpoint_name(name);
  const auto path = sentence({root, "/", name});
  const auto open = [&](const std::string& at) {
    open_directory there{path, posix::open_at(AT_FDCWD, at, O_RDONLY | O_DIRECTORY)};
    if (!there.fd && !posix::is_gone(errno) && errno != ENOTDIR) fail_io("open the directory", path);
    return there;
  };
  auto there = open(path);
  if (!there.fd) {  // it may be in the middle of being replaced, or just have been
    const auto in = open_root(root, false);
    const auto replaced = in->fd ? find_replaced(*in, name) : std::string();
    if (!replaced.empty()) there = open(in->file(replaced));
    if (!there.fd) there = open(path);
  }
  if (!there.fd) fail(errc::not_found, {"there is no checkpoint ", path});
  return there;
}

/// Gives a checkpoint that is to be deleted a temporary name: the next owner of the root removes it if this process crashes. Returns its
/// name afterwards: the old one if it holds files of others, which stay.
inline std::string rename_before_removal(const open_directory& root, const std::string& name,
                                         const open_directory& there) {
  const auto entries = there.entries();
  if (!std::all_of(entries.begin(), entries.end(), cairn::detail::is_own_file)) return name;
  if (!posix::try_lock(there.fd.get(), there.path)) return name;
  auto temporary = new_hidden_name(root, temporary_prefix, name);
  return rename_in(root, name, temporary, there) ? temporary : name;
}

/// Syncs the checkpoints that a store with `durable = false` has left in the page cache: new deltas may be built on them.
inline void sync_existing(const open_directory& root, const std::vector<std::string>& checkpoints) {
  for (const auto& name : checkpoints) {
    const auto there = open_in(root, name);
    if (!there.fd) continue;
    for (const auto& entry : there.entries()) {
      if (!cairn::detail::is_own_file(entry)) continue;
      const auto file = posix::open_at(there.fd.get(), entry, O_RDONLY | O_NONBLOCK);  // it may be a pipe
      if (!file && !is_foreign(errno)) fail_io("open", there.file(entry));  // no delta is built on what cannot be read
      if (file && posix::is_regular(file.get())) posix::sync(file.get(), there.file(entry));
    }
    posix::sync(there.fd.get(), there.path);
  }
  posix::sync(root.fd.get(), root.path);
  posix::sync_ancestors(root.path);
}

}  // namespace detail

directory::directory(std::string root, directory_options options)
    : path_(root.empty() ? root : cairn::detail::absolute_path(std::move(root))),
      options_(options),
      lock_(std::make_shared<detail::shared_lock>()) {
  if (path_.empty()) fail(errc::invalid, {"the path of a store is empty; the current directory is \".\""});
  if (options_.lease <= options_.lease.zero()) fail(errc::invalid, {"the lease of ", path_, " must be above 0"});
}

std::shared_ptr<const detail::place_lock> directory::checked_lock() const {
  auto lock = lock_->load();
  if (lock) lock->check();
  return lock;
}

ownership directory::lock() {
  const auto root = detail::open_root(path_, true);
  detail::refuse_checkpoint(*root);
  // In a forked child it is the parent's.
  const std::shared_ptr<const detail::place_lock> lock(new detail::place_lock(root, options_.lease, options_.job),
                                                       [](const detail::place_lock* held) {
                                                         if (held->is_here()) delete held;
                                                       });
  detail::recover(
      *root, {.former_writer = lock->former_writer(), .before = detail::abandoned_before(lock->now(), options_.lease)});
  if (options_.durable) detail::sync_existing(*root, list());
  lock_->store(lock);
  return lock;
}

std::unique_ptr<transaction> directory::begin(std::string_view name) {
  cairn::detail::require_checkpoint_name(name);
  const auto lock = checked_lock();
  return detail::guarded(lock, [&] {
    auto root = detail::open_root(path_, !lock);  // a root that is locked is there
    if (!lock && options_.durable) posix::sync_ancestors(path_);
    return std::make_unique<detail::directory_transaction>(std::move(root), lock, std::string(name), options_.lease,
                                                           options_.durable);
  });
}

std::unique_ptr<transaction> directory::join(std::string_view name, std::string_view attempt) {
  cairn::detail::require_checkpoint_name(name);
  const auto root = detail::open_root(path_, false);
  if (detail::attempt_of(detail::hidden_name(detail::temporary_prefix, name, attempt)) != attempt || !root->fd)
    fail(errc::not_found, {"nobody is saving to ", path_, "/", name, " as attempt ", attempt});
  return std::make_unique<detail::joined_transaction>(*root, name, attempt, options_.durable);
}

std::vector<std::string> directory::list() const {
  const auto lock = lock_->load();
  const bool is_owner = lock && lock->is_here();
  if (is_owner) lock->check_root();
  const auto known = is_owner ? lock_->known() : detail::shared_lock::checkpoints{};
  const auto root = detail::open_root(path_, false);
  if (!root->fd) return {};
  std::vector<std::string> names;
  constexpr int most = 100;
  for (int tries = 1; !detail::list_checkpoints(*root, known.names, names); ++tries)
    if (tries == most) fail(errc::busy, {path_, " cannot be listed: other processes change it all the time"});
  if (is_owner) lock_->learn(known, names);
  if (names.empty()) detail::refuse_checkpoint(*root);
  cairn::detail::sort_items(names, checkpoint_before);
  names.erase(std::unique(names.begin(), names.end()), names.end());  // crashes may have hidden several of one name
  return names;
}

std::vector<std::string> directory::files(std::string_view name) const {
  const auto there = detail::open_checkpoint(path_, name);
  auto names = there.entries();
  cairn::detail::sort_items(names, std::less<>());
  return names;
}

std::unique_ptr<source> directory::open(std::string_view name, std::string_view file) const {
  const auto there = detail::open_checkpoint(path_, name);
  return std::make_unique<detail::file_source>(there.fd.get(), std::string(file), there.file(file));
}

void directory::remove(std::string_view name) {
  cairn::detail::require_checkpoint_name(name);
  const auto lock = checked_lock();
  detail::guarded(lock, [&] {
    const auto root = detail::open_root(path_, !lock);
    detail::recover(*root, {.name = name});
    const auto there = detail::open_in(*root, std::string(name));
    if (!there.fd) fail(errc::not_found, {"there is no checkpoint ", there.path});
    detail::require_own(there);
    lock_->forget(name);
    const auto now_at = detail::rename_before_removal(*root, std::string(name), there);
    if (options_.durable && now_at != name) posix::sync(root->fd.get(), root->path);  // before its index is deleted
    detail::delete_directory(*root, now_at, there, nullptr);
    lock_->forget(name);  // a list may have found it meanwhile
  });
}

}  // namespace cairn::inline v0_1::stores
