// SPDX-License-Identifier: MIT
// Replaces files in a directory: new files are written under hidden names, and renamed when all of them are complete.
#pragma once

#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cairn/core/error.hpp"
#include "cairn/store/root_directory.hpp"
#include "cairn/store/file_sink.hpp"
#include "cairn/system/posix.hpp"

namespace cairn::inline v0_1::stores::detail {

/// New files in a directory, under hidden names until `publish`. What is not published is removed.
class replaced_files {
 public:
  replaced_files(const std::string& directory, bool durable)
      : directory_(directory), durable_(durable), fd_(posix::open_at(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY)) {
    if (!fd_) fail_io("open the directory", directory);
  }
  replaced_files(const replaced_files&) = delete;
  replaced_files& operator=(const replaced_files&) = delete;
  ~replaced_files() {
    for (const auto& each : made_)
      if (!each.hidden.empty()) ::unlinkat(fd_.get(), each.hidden.c_str(), 0);
  }

  [[nodiscard]] std::string path_of(std::string_view name) const { return sentence({directory_, "/", name}); }

  /// A file that is called `name` after `publish`. The caller calls `finish`.
  [[nodiscard]] file_sink make(const std::string& name, std::uint64_t bytes) {
    made_.push_back({hidden_name(name, new_attempt("", "")), name});
    return {fd_.get(), made_.back().hidden, path_of(name), bytes, durable_ ? file_mode::synced : file_mode::cached};
  }

  /// errc::io if a directory has a new file's name. Before `publish` and `remove`, so neither fails halfway for it.
  void require_replaceable() const {
    for (const auto& each : made_)
      if (is_directory(each.name)) fail_io("replace", path_of(each.name), EISDIR);
  }

  [[nodiscard]] bool is_checkpoint() const { return has_own_index(fd_.get(), directory_); }

  [[nodiscard]] std::vector<std::string> entries() const { return posix::entries(fd_.get(), directory_); }

  /// Whether `name` in the directory is the file at `path`. False where that cannot be found out.
  [[nodiscard]] bool is_same(std::string_view name, const std::string& path) const {
    struct stat here{}, there{};
    return ::fstatat(fd_.get(), std::string(name).c_str(), &here, 0) == 0 && ::stat(path.c_str(), &there) == 0 &&
           here.st_dev == there.st_dev && here.st_ino == there.st_ino;
  }

  /// Gives the files their names, in the order in which they were made.
  void publish() {
    for (auto& each : made_) {
      if (::renameat(fd_.get(), each.hidden.c_str(), fd_.get(), each.name.c_str()) != 0)
        fail_io("rename a new file to", path_of(each.name));
      each.hidden.clear();
    }
    sync();
  }

  /// Removes the files that `is_old` names; no directories.
  template <class Is>
  void remove(const Is& is_old) {
    bool has_removed = false;
    for (const auto& name : entries()) {
      if (!is_old(name) || is_directory(name)) continue;
      if (::unlinkat(fd_.get(), name.c_str(), 0) != 0 && errno != ENOENT) fail_io("remove", path_of(name));
      has_removed = true;
    }
    if (has_removed) sync();
  }

 private:
  struct file {
    std::string hidden, name;
  };

  [[nodiscard]] bool is_directory(const std::string& name) const {
    struct stat about{};
    return ::fstatat(fd_.get(), name.c_str(), &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(about.st_mode);
  }
  void sync() const {
    if (durable_) posix::sync(fd_.get(), directory_);
  }

  std::string directory_;
  bool durable_;
  posix::descriptor fd_;
  std::vector<file> made_;
};

}  // namespace cairn::inline v0_1::stores::detail
