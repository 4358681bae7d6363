// Definitions of store/directory.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <utility>

#include "cairn/store/directory.hpp"
#include "cairn/store/file_sink.hpp"
#include "cairn/store/file_source.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/store/order.hpp"
#include "cairn/system/paths.hpp"
#include "cairn/system/posix.hpp"

namespace cairn::stores {

namespace detail {

inline constexpr std::string_view temporary_prefix = ".tmp-";

/// A directory on disk: its path for messages, open.
struct open_directory {
  std::string path;
  posix::descriptor fd;

  [[nodiscard]] std::string file(std::string_view name) const { return sentence({path, "/", name}); }
};

/// Opens `name` in `parent` ("" for the parent itself); without a descriptor when it is not there.
[[nodiscard]] inline open_directory open_in(int parent, const std::string& name, std::string path) {
  open_directory opened{std::move(path), posix::open_at(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)};
  if (!opened.fd && errno != ENOENT) fail_io("open the directory", opened.path);
  return opened;
}

/// Deletes the files that Cairn writes, the index first, so that after a crash what is left is not listed. Moves other files to
/// `move_others_to`, if that is not null and has no file of their name. True when nothing is left.
inline bool delete_own_files(const open_directory& from, const open_directory* move_others_to) {
  if (::unlinkat(from.fd.get(), std::string(cairn::detail::index_file).c_str(), 0) != 0 && errno != ENOENT)
    fail_io("delete", from.file(cairn::detail::index_file));
  bool empty = true;
  for (const auto& entry : posix::entries(from.fd.get(), from.path)) {
    if (cairn::detail::is_own_file(entry)) {
      if (::unlinkat(from.fd.get(), entry.c_str(), 0) != 0 && errno != ENOENT) fail_io("delete", from.file(entry));
    } else if (move_others_to == nullptr || ::renameat2(from.fd.get(), entry.c_str(), move_others_to->fd.get(),
                                                        entry.c_str(), RENAME_NOREPLACE) != 0) {
      empty = false;
    }
  }
  return empty;
}

/// A checkpoint that is being written into the locked directory `.tmp-<name>`.
class directory_transaction final : public transaction {
 public:
  directory_transaction(std::shared_ptr<const open_directory> root, std::string name, bool durable)
      : root_(std::move(root)),
        name_(std::move(name)),
        making_(std::string(temporary_prefix) + name_),
        durable_(durable) {
    check_not_foreign();
    claim();
  }

  ~directory_transaction() override {
    if (published_) return;
    files_.clear();
    try {
      if (delete_own_files(here_, nullptr)) ::unlinkat(root_->fd.get(), making_.c_str(), AT_REMOVEDIR);
    } catch (...) {  // the next transaction of this name removes it
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

  void commit() override {
    for (const auto& file : files_) file->finish();
    files_.clear();
    if (durable_) posix::sync(here_.fd.get(), here_.path);
    publish();
    published_ = true;
    if (durable_) posix::sync(root_->fd.get(), root_->path);
    if (replaced_.fd) remove_replaced();
  }

 private:
  /// Throws errc::invalid if the place has a directory of other files, which is not replaced.
  void check_not_foreign() const {
    const auto there = open_in(root_->fd.get(), name_, root_->file(name_));
    if (!there.fd || ::faccessat(there.fd.get(), std::string(cairn::detail::index_file).c_str(), F_OK, 0) == 0) return;
    for (const auto& entry : posix::entries(there.fd.get(), there.path))
      if (!cairn::detail::is_own_file(entry))
        fail(errc::invalid,
             {there.path, " is no checkpoint and holds \"", entry, "\": choose another place or move it away"});
  }

  /// Creates the temporary directory, or takes over one that a crashed process left, and locks it.
  void claim() {
    const auto path = root_->file(making_);
    for (int attempt = 0; attempt < 100; ++attempt) {
      if (::mkdirat(root_->fd.get(), making_.c_str(), 0777) != 0 && errno != EEXIST)
        fail_io("create the directory", path);
      here_ = open_in(root_->fd.get(), making_, path);
      if (!here_.fd) continue;
      if (!posix::try_lock(here_.fd.get(), path)) break;
      if (!posix::is_same(root_->fd.get(), making_, here_.fd.get())) continue;  // published or removed meanwhile
      const auto older = open_in(root_->fd.get(), name_, root_->file(name_));
      if (delete_own_files(here_, older.fd ? &older : nullptr)) return;
      fail(errc::invalid, {path, " was left by a crash and holds files that are not cairn's: move them away"});
    }
    fail(errc::busy, {"another process is saving to ", root_->file(name_)});
  }

  void publish() {
    const int root = root_->fd.get();
    const auto rename = [&](unsigned flags) { return ::renameat2(root, making_.c_str(), root, name_.c_str(), flags); };
    if (rename(RENAME_NOREPLACE) == 0) return;
    if (errno == EINVAL || errno == ENOSYS) {  // the file system has plain renames only
      if (::renameat(root, making_.c_str(), root, name_.c_str()) == 0) return;
    }
    if (errno != EEXIST && errno != ENOTEMPTY) fail_io("publish", root_->file(name_));
    replaced_ = open_in(root, name_, root_->file(name_));
    if (!posix::try_lock(replaced_.fd.get(), replaced_.path))
      fail(errc::busy, {"another process is saving to ", replaced_.path});
    if (rename(RENAME_EXCHANGE) == 0) return;
    if (errno != EINVAL && errno != ENOSYS) fail_io("publish", root_->file(name_));
    // No exchange on this file system: the older checkpoint is removed just before the new one is renamed.
    if (!delete_own_files(replaced_, &here_))
      fail(errc::invalid, {replaced_.path, " holds files that cannot be moved"});
    replaced_ = {};
    if (::renameat(root, making_.c_str(), root, name_.c_str()) != 0) fail_io("publish", root_->file(name_));
  }

  /// The older checkpoint now has the temporary name. Files in it that are not Cairn's move to the new one.
  void remove_replaced() noexcept {
    try {
      if (delete_own_files(replaced_, &here_)) ::unlinkat(root_->fd.get(), making_.c_str(), AT_REMOVEDIR);
    } catch (...) {  // it is published; the next transaction or lock removes the rest
    }
  }

  std::shared_ptr<const open_directory> root_;
  std::string name_, making_;
  bool durable_;
  bool published_ = false;
  open_directory here_, replaced_;
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
  auto path = sentence({root, "/", name});
  open_directory there{path, posix::open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY)};
  if (!there.fd && errno != ENOENT && errno != ENOTDIR) fail_io("open the directory", path);
  if (!there.fd) fail(errc::not_found, {"there is no checkpoint ", path});
  return there;
}

/// Removes what is left of a temporary directory, unless its owner is alive or it holds files of others.
inline void remove_leftovers(const open_directory& root, const std::string& entry) {
  try {
    const auto left = open_in(root.fd.get(), entry, root.file(entry));
    if (left.fd && posix::try_lock(left.fd.get(), left.path) && delete_own_files(left, nullptr))
      ::unlinkat(root.fd.get(), entry.c_str(), AT_REMOVEDIR);
  } catch (const error&) {  // not ours
  }
}

/// Gives a checkpoint that is to be deleted a temporary name: the next owner of the root removes it if this process crashes. Returns its
/// name afterwards: the old one if it holds files of others, which stay.
inline std::string rename_before_removal(const open_directory& root, const std::string& name,
                                         const open_directory& there) {
  const auto entries = posix::entries(there.fd.get(), there.path);
  if (!std::all_of(entries.begin(), entries.end(), cairn::detail::is_own_file)) return name;
  auto temporary = std::string(temporary_prefix) + name;
  remove_leftovers(root, temporary);
  if (!posix::try_lock(there.fd.get(), there.path)) return name;
  const bool renamed =
      ::renameat2(root.fd.get(), name.c_str(), root.fd.get(), temporary.c_str(), RENAME_NOREPLACE) == 0;
  return renamed ? temporary : name;
}

/// Syncs the checkpoints that a store with `durable = false` has left in the page cache: new deltas may be built on them.
inline void sync_existing(const open_directory& root, const std::vector<std::string>& checkpoints) {
  for (const auto& name : checkpoints) {
    const auto there = open_in(root.fd.get(), name, root.file(name));
    if (!there.fd) continue;
    for (const auto& entry : posix::entries(there.fd.get(), there.path)) {
      if (!cairn::detail::is_own_file(entry)) continue;
      const auto file = posix::open_at(there.fd.get(), entry, O_RDONLY);
      if (!file && errno != EACCES) fail_io("open", there.file(entry));  // no delta is built on what cannot be read
      if (file) posix::sync(file.get(), there.file(entry));
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
}

CAIRN_INLINE ownership directory::lock() {
  auto root = detail::open_root(path_, true, options_.durable);
  if (!posix::try_lock(root->fd.get(), path_)) fail(errc::busy, {"another process is saving to ", path_});
  if (options_.durable) detail::sync_existing(*root, list());
  for (const auto& entry : posix::entries(root->fd.get(), path_))
    if (entry.starts_with(detail::temporary_prefix)) detail::remove_leftovers(*root, entry);
  return root;
}

CAIRN_INLINE std::unique_ptr<transaction> directory::begin(std::string_view name) {
  cairn::detail::require_checkpoint_name(name);
  return std::make_unique<detail::directory_transaction>(detail::open_root(path_, true, options_.durable),
                                                         std::string(name), options_.durable);
}

CAIRN_INLINE std::vector<std::string> directory::list() const {
  const auto root = detail::open_root(path_, false, false);
  if (!root->fd) return {};
  auto names = posix::entries(root->fd.get(), path_);
  std::erase_if(names, [&](const std::string& name) {
    const auto index = sentence({name, "/", cairn::detail::index_file});
    if (name.front() == '.') return true;
    if (::faccessat(root->fd.get(), index.c_str(), F_OK, 0) == 0) return false;
    if (errno != ENOENT && errno != ENOTDIR && errno != EACCES && errno != ENAMETOOLONG && errno != ELOOP)
      fail_io("look for", root->file(index));  // an error does not mean that it is absent
    return true;
  });
  cairn::detail::sort_items(names, checkpoint_before);
  return names;
}

CAIRN_INLINE std::vector<std::string> directory::files(std::string_view name) const {
  const auto there = detail::open_checkpoint(path_, name);
  auto names = posix::entries(there.fd.get(), there.path);
  cairn::detail::sort_items(names, std::less<>());
  return names;
}

CAIRN_INLINE std::unique_ptr<source> directory::open(std::string_view name, std::string_view file) const {
  const auto there = detail::open_checkpoint(path_, name);
  return std::make_unique<detail::file_source>(there.fd.get(), std::string(file), there.file(file));
}

CAIRN_INLINE void directory::remove(std::string_view name) {
  cairn::detail::require_checkpoint_name(name);
  const auto root = detail::open_root(path_, true, options_.durable);
  const auto there = detail::open_in(root->fd.get(), std::string(name), root->file(name));
  if (!there.fd) fail(errc::not_found, {"there is no checkpoint ", there.path});
  const auto now_at = detail::rename_before_removal(*root, std::string(name), there);
  if (options_.durable && now_at != name) posix::sync(root->fd.get(), root->path);  // before its index is deleted
  if (detail::delete_own_files(there, nullptr)) ::unlinkat(root->fd.get(), now_at.c_str(), AT_REMOVEDIR);
}

}  // namespace cairn::stores
