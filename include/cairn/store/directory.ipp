// Definitions of store/directory.hpp.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>
#include <utility>

#include "cairn/store/checkpoint_directory.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/store/file_sink.hpp"
#include "cairn/store/file_source.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/store/order.hpp"
#include "cairn/store/place_lock.hpp"
#include "cairn/system/closed_in_children.hpp"
#include "cairn/system/paths.hpp"
#include "cairn/system/posix.hpp"

namespace cairn::stores {

namespace detail {

/// A checkpoint that is being written into a locked temporary directory.
class directory_transaction final : public transaction {
 public:
  /// `lock`: of the root, if this process has it.
  directory_transaction(std::shared_ptr<const open_directory> root, std::shared_ptr<const place_lock> lock,
                        std::string name, const directory_options& options)
      : root_(std::move(root)),
        lock_(std::move(lock)),
        name_(std::move(name)),
        lease_(options.lease),
        durable_(options.durable) {
    if (const auto there = open_in(*root_, name_); there.fd) require_own(there);
    claim();
  }

  ~directory_transaction() override {
    if (is_published_) return;
    files_.clear();
    try {
      if (!posix::is_same(root_->fd.get(), name_, here_.fd.get())) delete_directory(*root_, attempt_, here_, nullptr);
    } catch (...) {  // the next transaction of this name, or the next owner, removes it
    }
  }

  sink& create(std::string_view file, std::uint64_t bytes) override {
    if (!cairn::detail::is_own_file(file)) fail(errc::invalid, {"\"", file, "\" is not a file of a checkpoint"});
    constexpr std::uint64_t worth_direct = 64 << 10;
    const auto mode = !durable_ ? file_mode::cached : bytes >= worth_direct ? file_mode::direct : file_mode::synced;
    files_.push_back(std::make_unique<file_sink>(here_.fd.get(), std::string(file),
                                                 root_->file(name_ + "/") + std::string(file), bytes, mode));
    return *files_.back();
  }

  void finish() override {
    for (const auto& file : files_) file->finish();
    files_.clear();
  }

  void commit() override {
    finish();
    if (durable_) posix::sync(here_.fd.get(), here_.path);
    if (lock_) lock_->check();
    publish();
    is_published_ = true;
    if (durable_) posix::sync(root_->fd.get(), root_->path);
    if (replaced_.fd) delete_replaced();
  }

 private:
  /// Creates the temporary directory, and locks it. errc::busy if a live process writes a checkpoint of this name.
  void claim() {
    constexpr int most = 20;
    for (int tries = 0; tries < most; ++tries) {
      attempt_ = new_hidden_name(*root_, temporary_prefix, name_);
      if (::mkdirat(root_->fd.get(), attempt_.c_str(), 0777) != 0) {
        if (errno == EEXIST) continue;
        fail_io("create the directory", root_->file(attempt_));
      }
      here_ = open_in(*root_, attempt_);
      const bool is_locked = here_.fd && posix::try_lock(here_.fd.get(), here_.path) &&
                             posix::is_same(root_->fd.get(), attempt_, here_.fd.get());
      if (!is_locked) continue;  // another process took it for a leftover
      if (is_alone()) return;
      break;
    }
    ::unlinkat(root_->fd.get(), attempt_.c_str(), AT_REMOVEDIR);
    fail(errc::busy, {"another process is saving to ", root_->file(name_)});
  }

  /// Removes what dead processes left. Of live ones that begin at the same time, the one with the smallest attempt waits for the others to give
  /// up; one that began before it does not.
  [[nodiscard]] bool is_alone() const {
    constexpr int most = 50;
    const recovery what{
        .name = name_, .own = attempt_, .before = abandoned_before(time_of(here_.fd.get(), here_.path), lease_)};
    for (int tries = 0; tries < most; ++tries) {
      const auto live = recover(*root_, what);
      if (live.empty()) return true;
      if (std::any_of(live.begin(), live.end(), [&](const auto& other) { return other < attempt_; })) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }

  void publish() {
    if (rename_in(*root_, attempt_, name_, here_)) return;
    if (errno != EEXIST && errno != ENOTEMPTY) fail_io("publish", root_->file(name_));
    replaced_ = open_in(*root_, name_);
    if (!posix::try_lock(replaced_.fd.get(), replaced_.path))
      fail(errc::busy, {"another process is saving to ", replaced_.path});
    replaced_name_ = attempt_;
    if (exchange_in(*root_, attempt_, name_, here_)) return;
    if (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP) fail_io("publish", root_->file(name_));
    hide_and_publish();
  }

  /// For file systems that cannot exchange names. Where a crash comes between the two renames, readers find the older checkpoint under its
  /// hidden name, and `recover` gives it its name back.
  void hide_and_publish() {
    replaced_name_ = new_hidden_name(*root_, replaced_prefix, name_);
    if (!rename_in(*root_, name_, replaced_name_, replaced_)) fail_io("replace", root_->file(name_));
    if (rename_in(*root_, attempt_, name_, here_)) return;
    const int failure = errno;
    static_cast<void>(rename_in(*root_, replaced_name_, name_, replaced_));
    fail_io("publish", root_->file(name_), failure);
  }

  /// Files in the older checkpoint that are not Cairn's move to the new one.
  void delete_replaced() noexcept {
    try {
      delete_directory(*root_, replaced_name_, replaced_, &here_);
    } catch (...) {  // the new one is published; the next transaction or owner removes the rest
    }
  }

  std::shared_ptr<const open_directory> root_;
  std::shared_ptr<const place_lock> lock_;
  std::string name_;
  std::string attempt_, replaced_name_;  // the names of the directories
  std::chrono::milliseconds lease_;
  bool durable_;
  bool is_published_ = false;
  open_directory here_, replaced_;
  posix::closed_in_children closed_{here_.fd}, closed_replaced_{replaced_.fd};
  std::vector<std::unique_ptr<file_sink>> files_;
};

/// Opens the root of a store; without a descriptor when it is not there and is not to be made.
[[nodiscard]] inline std::shared_ptr<const open_directory> open_root(const std::string& path, bool make, bool durable) {
  const auto open = [&] { return posix::open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY); };
  open_directory root{path, open()};
  if (!root.fd && make && errno == ENOENT) {
    posix::make_directories(path, durable);
    root.fd = open();
  }
  if (!root.fd && (make || errno != ENOENT)) fail_io("open the directory", path);
  return std::make_shared<const open_directory>(std::move(root));
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
    const auto in = open_root(root, false, false);
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
      if (!file && errno != EACCES) fail_io("open", there.file(entry));  // no delta is built on what cannot be read
      if (file && posix::is_regular(file.get())) posix::sync(file.get(), there.file(entry));
    }
    posix::sync(there.fd.get(), there.path);
  }
  posix::sync(root.fd.get(), root.path);
  posix::sync_ancestors(root.path);
}

}  // namespace detail

CAIRN_INLINE directory::directory(std::string root, directory_options options)
    : path_(root.empty() ? root : cairn::detail::absolute_path(std::move(root))), options_(options) {
  if (path_.empty()) fail(errc::invalid, {"the path of a store is empty; the current directory is \".\""});
  if (options_.lease <= options_.lease.zero()) fail(errc::invalid, {"the lease of ", path_, " must be above 0"});
}

CAIRN_INLINE std::shared_ptr<const detail::place_lock> directory::checked_lock() const {
  auto lock = lock_.lock();
  if (lock) lock->check();
  return lock;
}

CAIRN_INLINE ownership directory::lock() {
  const auto root = detail::open_root(path_, true, options_.durable);
  // In a forked child it is the parent's.
  const std::shared_ptr<const detail::place_lock> lock(new detail::place_lock(root, options_.lease, options_.job),
                                                       [](const detail::place_lock* held) {
                                                         if (held->is_here()) delete held;
                                                       });
  detail::recover(*root, {.former_machine = lock->former_machine(),
                          .before = detail::abandoned_before(lock->now(), options_.lease)});
  if (options_.durable) detail::sync_existing(*root, list());
  lock_ = lock;
  return lock;
}

CAIRN_INLINE std::unique_ptr<transaction> directory::begin(std::string_view name) {
  cairn::detail::require_checkpoint_name(name);
  auto lock = checked_lock();
  auto root = detail::open_root(path_, !lock, options_.durable);  // a root that is locked is there
  return std::make_unique<detail::directory_transaction>(std::move(root), std::move(lock), std::string(name), options_);
}

CAIRN_INLINE std::vector<std::string> directory::list() const {
  const auto root = detail::open_root(path_, false, false);
  if (!root->fd) return {};
  std::vector<std::string> names;
  constexpr int most = 20;
  for (int tries = 0; tries < most && !detail::list_checkpoints(*root, names); ++tries) continue;
  cairn::detail::sort_items(names, checkpoint_before);
  names.erase(std::unique(names.begin(), names.end()), names.end());  // crashes may have hidden several of one name
  return names;
}

CAIRN_INLINE std::vector<std::string> directory::files(std::string_view name) const {
  const auto there = detail::open_checkpoint(path_, name);
  auto names = there.entries();
  cairn::detail::sort_items(names, std::less<>());
  return names;
}

CAIRN_INLINE std::unique_ptr<source> directory::open(std::string_view name, std::string_view file) const {
  const auto there = detail::open_checkpoint(path_, name);
  return std::make_unique<detail::file_source>(there.fd.get(), std::string(file), there.file(file));
}

CAIRN_INLINE void directory::remove(std::string_view name) {
  cairn::detail::require_checkpoint_name(name);
  const auto lock = checked_lock();
  const auto root = detail::open_root(path_, !lock, options_.durable);
  detail::recover(*root, {.name = name});
  const auto there = detail::open_in(*root, std::string(name));
  if (!there.fd) fail(errc::not_found, {"there is no checkpoint ", there.path});
  detail::require_own(there);
  const auto now_at = detail::rename_before_removal(*root, std::string(name), there);
  if (options_.durable && now_at != name) posix::sync(root->fd.get(), root->path);  // before its index is deleted
  detail::delete_directory(*root, now_at, there, nullptr);
}

}  // namespace cairn::stores
