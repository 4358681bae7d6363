// SPDX-License-Identifier: MIT
// Definitions of io_advice.hpp.
#pragma once

#include <cerrno>
#include <cstdint>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cairn/core/io_advice.hpp"

namespace cairn::inline v0_1::detail {

/// The directory above; empty for "/" and for a name alone.
[[nodiscard]] inline std::string above(const std::string& path) {
  const auto slash = path.find_last_of('/');
  if (slash == path.npos || path == "/") return {};
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string missing_advice(std::string path) {
  struct stat about{};
  std::string missing;
  for (; path.starts_with('/') && ::stat(path.c_str(), &about) != 0 && errno == ENOENT; path = above(path))
    missing = path;
  return missing.empty() ? missing : "; " + missing + " is not there";
}

std::string io_advice(std::string path, int number) {
  const auto text = [](std::uint64_t n) { return std::to_string(n); };
  if (number == EMFILE) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    return "; this process may have " + text(limit.rlim_cur) + " files open: raise the limit (ulimit -n)";
  }
  struct stat about{};
  if (number == ENOTDIR || number == ELOOP) {
    while (!path.empty() && ::lstat(path.c_str(), &about) != 0) path = above(path);
    return path.empty() || S_ISDIR(about.st_mode) ? std::string() : "; " + path + " is no directory: move it away";
  }
  if (number == EDQUOT) return "; the quota of this user, group or project is used up: quota -s shows it, or lfs quota";
  if (number != EACCES && number != EPERM && number != ENOSPC) return {};
  while (!path.empty() && ::stat(path.c_str(), &about) != 0) path = above(path);
  if (path.empty()) return {};
  if (number == ENOSPC) {
    struct statvfs disk{};
    if (::statvfs(path.c_str(), &disk) != 0) return {};
    if (disk.f_files != 0 && disk.f_favail == 0)
      return "; no inodes are free: each file needs one, so remove some files";
    return "; " + text(std::uint64_t{disk.f_bavail} * disk.f_frsize) + " bytes are free";
  }
  if (about.st_uid == ::geteuid()) return {};
  return "; " + path + " belongs to user " + text(about.st_uid) + ", and this process runs as user " +
         text(::geteuid());
}

}  // namespace cairn::inline v0_1::detail
