// A store in a directory: one subdirectory per checkpoint, published by renaming it into place.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/store/base.hpp"
#include "cairn/store/file_sink.hpp"
#include "cairn/store/file_source.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/store/order.hpp"
#include "cairn/system/posix.hpp"

namespace cairn::stores {

namespace detail {

inline constexpr std::string_view unfinished = ".tmp-";

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

/// Deletes the files that Cairn writes, index first, so that a crash half-way leaves no checkpoint that looks
/// whole. Other files move to `refuge` where there is one, unless it has their name. True when nothing is
/// left.
inline bool empty_own(const open_directory& from, const open_directory* refuge) {
  if (::unlinkat(from.fd.get(), std::string(index_file).c_str(), 0) != 0 && errno != ENOENT)
    fail_io("delete", from.file(index_file));
  bool empty = true;
  for (const auto& entry : posix::entries(from.fd.get(), from.path)) {
    if (is_own_file(entry)) {
      if (::unlinkat(from.fd.get(), entry.c_str(), 0) != 0 && errno != ENOENT) fail_io("delete", from.file(entry));
    } else if (refuge == nullptr ||
               ::renameat2(from.fd.get(), entry.c_str(), refuge->fd.get(), entry.c_str(), RENAME_NOREPLACE) != 0) {
      empty = false;
    }
  }
  return empty;
}

/// A checkpoint in the making, in the locked directory `.tmp-<name>`.
class directory_transaction final : public transaction {
 public:
  directory_transaction(std::shared_ptr<const open_directory> root, std::string name, bool durable)
      : root_(std::move(root)), name_(std::move(name)), making_(std::string(unfinished) + name_), durable_(durable) {
    refuse_foreign_place();
    claim();
  }

  ~directory_transaction() override {
    if (published_) return;
    files_.clear();
    try {
      if (empty_own(here_, nullptr)) ::unlinkat(root_->fd.get(), making_.c_str(), AT_REMOVEDIR);
    } catch (...) {  // the next transaction of this name clears it
    }
  }

  sink& create(std::string_view file, std::uint64_t bytes) override {
    if (!is_own_file(file)) fail(errc::invalid, {"\"", file, "\" is not a file of a checkpoint"});
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
  /// A directory of somebody else's files is not ours to replace.
  void refuse_foreign_place() const {
    const auto there = open_in(root_->fd.get(), name_, root_->file(name_));
    if (!there.fd || ::faccessat(there.fd.get(), std::string(index_file).c_str(), F_OK, 0) == 0) return;
    for (const auto& entry : posix::entries(there.fd.get(), there.path))
      if (!is_own_file(entry))
        fail(errc::invalid,
             {there.path, " is no checkpoint and holds \"", entry, "\": choose another place or move it away"});
  }

  /// Makes the temporary directory, or takes over one that a crashed process left, and locks it.
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
      if (empty_own(here_, older.fd ? &older : nullptr)) return;
      fail(errc::invalid, {path, " was left by a crash and holds files that are not cairn's: move them away"});
    }
    fail(errc::busy, {"another process is saving to ", root_->file(name_)});
  }

  void publish() {
    const int root = root_->fd.get();
    const auto rename = [&](unsigned flags) { return ::renameat2(root, making_.c_str(), root, name_.c_str(), flags); };
    if (rename(RENAME_NOREPLACE) == 0) return;
    if (errno == EINVAL || errno == ENOSYS) {  // the file system knows plain renames only
      if (::renameat(root, making_.c_str(), root, name_.c_str()) == 0) return;
    }
    if (errno != EEXIST && errno != ENOTEMPTY) fail_io("publish", root_->file(name_));
    replaced_ = open_in(root, name_, root_->file(name_));
    if (!posix::try_lock(replaced_.fd.get(), replaced_.path))
      fail(errc::busy, {"another process is saving to ", replaced_.path});
    if (rename(RENAME_EXCHANGE) == 0) return;
    if (errno != EINVAL && errno != ENOSYS) fail_io("publish", root_->file(name_));
    // No exchange on this file system: the older checkpoint goes a moment before the new one comes.
    if (!empty_own(replaced_, &here_)) fail(errc::invalid, {replaced_.path, " holds files that cannot be moved"});
    replaced_ = {};
    if (::renameat(root, making_.c_str(), root, name_.c_str()) != 0) fail_io("publish", root_->file(name_));
  }

  /// The older checkpoint now has the temporary name; what is not Cairn's in it moves over to the new one.
  void remove_replaced() noexcept {
    try {
      if (empty_own(replaced_, &here_)) ::unlinkat(root_->fd.get(), making_.c_str(), AT_REMOVEDIR);
    } catch (...) {  // published all the same; the next transaction or lock clears the rest
    }
  }

  std::shared_ptr<const open_directory> root_;
  std::string name_, making_;
  bool durable_;
  bool published_ = false;
  open_directory here_, replaced_;
  std::vector<std::unique_ptr<file_sink>> files_;
};

}  // namespace detail

struct directory_options {
  bool durable = true;  ///< commit waits for the disk; fresh files are written with direct I/O
};

/// Checkpoints as subdirectories of `root`, which is made by the first save. A temporary name, fsync and
/// rename publish; flock on the directories keeps other processes away, and a crash gives the locks back.
class directory {
 public:
  explicit directory(std::string root, directory_options options = {}) : path_(std::move(root)), options_(options) {
    while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
    if (path_.empty()) path_ = ".";
  }

  [[nodiscard]] std::string location() const { return path_; }

  /// Also removes what crashed processes left half-written.
  [[nodiscard]] ownership lock() {
    auto root = open_root(true);
    if (!posix::try_lock(root->fd.get(), path_)) fail(errc::busy, {"another process is saving to ", path_});
    if (options_.durable) settle(*root);
    for (const auto& entry : posix::entries(root->fd.get(), path_))
      if (entry.starts_with(detail::unfinished)) sweep(*root, entry);
    return root;
  }

  [[nodiscard]] std::unique_ptr<transaction> begin(std::string_view name) {
    require_checkpoint_name(name);
    return std::make_unique<detail::directory_transaction>(open_root(true), std::string(name), options_.durable);
  }

  [[nodiscard]] std::vector<std::string> list() const {
    const auto root = open_root(false);
    if (!root->fd) return {};
    auto names = posix::entries(root->fd.get(), path_);
    std::erase_if(names, [&](const std::string& name) {
      const auto index = sentence({name, "/", index_file});
      if (name.front() == '.') return true;
      if (::faccessat(root->fd.get(), index.c_str(), F_OK, 0) == 0) return false;
      if (errno != ENOENT && errno != ENOTDIR && errno != EACCES && errno != ENAMETOOLONG && errno != ELOOP)
        fail_io("look for", root->file(index));  // a checkpoint that may be there is not one that is not
      return true;
    });
    sort_items(names, checkpoint_before);
    return names;
  }

  [[nodiscard]] std::vector<std::string> files(std::string_view name) const {
    const auto there = open_checkpoint(name);
    auto names = posix::entries(there.fd.get(), there.path);
    sort_items(names, std::less<>());
    return names;
  }

  [[nodiscard]] std::unique_ptr<source> open(std::string_view name, std::string_view file) const {
    const auto there = open_checkpoint(name);
    return std::make_unique<file_source>(there.fd.get(), std::string(file), there.file(file));
  }

  void remove(std::string_view name) {
    require_checkpoint_name(name);
    const auto root = open_root(true);
    const auto there = detail::open_in(root->fd.get(), std::string(name), root->file(name));
    if (!there.fd) fail(errc::not_found, {"there is no checkpoint ", there.path});
    const auto now_at = hide(*root, std::string(name), there);
    if (options_.durable && now_at != name) posix::sync(root->fd.get(), root->path);  // before its index goes
    if (detail::empty_own(there, nullptr)) ::unlinkat(root->fd.get(), now_at.c_str(), AT_REMOVEDIR);
  }

 private:
  [[nodiscard]] std::shared_ptr<const detail::open_directory> open_root(bool make) const {
    if (make) posix::make_directories(path_, options_.durable);
    detail::open_directory root{path_, posix::open_at(AT_FDCWD, path_, O_RDONLY | O_DIRECTORY)};
    if (!root.fd && (make || errno != ENOENT)) fail_io("open the directory", path_);
    return std::make_shared<const detail::open_directory>(std::move(root));
  }

  [[nodiscard]] detail::open_directory open_checkpoint(std::string_view name) const {
    require_checkpoint_name(name);
    auto path = sentence({path_, "/", name});
    detail::open_directory there{path, posix::open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY)};
    if (!there.fd && errno != ENOENT && errno != ENOTDIR) fail_io("open the directory", path);
    if (!there.fd) fail(errc::not_found, {"there is no checkpoint ", path});
    return there;
  }

  /// Renames a checkpoint that is to be deleted to what the next owner of the root clears, so that a crash half-way
  /// leaves nothing for good. Returns its name afterwards: the old one where it holds files of others, which stay.
  static std::string hide(const detail::open_directory& root, const std::string& name,
                          const detail::open_directory& there) {
    const auto entries = posix::entries(there.fd.get(), there.path);
    if (!std::all_of(entries.begin(), entries.end(), is_own_file)) return name;
    auto hidden = std::string(detail::unfinished) + name;
    sweep(root, hidden);
    if (!posix::try_lock(there.fd.get(), there.path)) return name;
    const bool renamed = ::renameat2(root.fd.get(), name.c_str(), root.fd.get(), hidden.c_str(), RENAME_NOREPLACE) == 0;
    return renamed ? hidden : name;
  }

  /// Makes durable what others have made here without waiting for the disk: deltas may be built on it, and all lies below `path_`.
  void settle(const detail::open_directory& root) const {
    for (const auto& name : list()) {
      const auto there = detail::open_in(root.fd.get(), name, root.file(name));
      if (!there.fd) continue;
      for (const auto& entry : posix::entries(there.fd.get(), there.path)) {
        if (!is_own_file(entry)) continue;
        const auto file = posix::open_at(there.fd.get(), entry, O_RDONLY);
        if (!file && errno != EACCES) fail_io("open", there.file(entry));  // one that may not be read is not built on
        if (file) posix::sync(file.get(), there.file(entry));
      }
      posix::sync(there.fd.get(), there.path);
    }
    posix::sync(root.fd.get(), root.path);
    posix::sync_ancestors(path_);
  }

  static void sweep(const detail::open_directory& root, const std::string& entry) {
    try {
      const auto left = detail::open_in(root.fd.get(), entry, root.file(entry));
      if (left.fd && posix::try_lock(left.fd.get(), left.path) && detail::empty_own(left, nullptr))
        ::unlinkat(root.fd.get(), entry.c_str(), AT_REMOVEDIR);
    } catch (const error&) {  // not ours, then
    }
  }

  std::string path_;
  directory_options options_;
};

}  // namespace cairn::stores
