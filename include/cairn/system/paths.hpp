// SPDX-License-Identifier: MIT
// Splits paths into directory and name, and makes them absolute.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string>

#include "cairn/core/error.hpp"

namespace cairn::inline v0_1::detail {

/// A path's directory and the name in it: "a/b" -> {"a", "b"}, "b/" -> {".", "b"}.
struct path_parts {
  std::string directory;
  std::string name;
};

[[nodiscard]] inline path_parts split_path(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

/// As split_path, for a directory that exists: "." and ".." are replaced by its name.
[[nodiscard]] inline path_parts split_existing(const std::string& path) {
  auto split = split_path(path);
  if (split.name != "." && split.name != "..") return split;
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), &std::free);
  return real ? split_path(real.get()) : split;
}

/// The path from "/" on: "a" -> "<current directory>/a"; "" and "." are that directory. Removes slashes at the end.
[[nodiscard]] inline std::string absolute_path(std::string path) {
  if (path.find('\0') != std::string::npos)
    fail(errc::invalid, {std::string_view(path.c_str()), ": the path has a zero byte after this"});
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  if (path.starts_with('/')) return path;
  const std::unique_ptr<char, void (*)(void*)> current(::getcwd(nullptr, 0), &std::free);
  if (!current) fail_io("find the current directory for", path);
  const std::string above = current.get();
  return path.empty() || path == "." ? above : (above == "/" ? above : above + "/") + path;
}

[[nodiscard]] inline bool is_file(const std::string& path) noexcept {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

/// Whether there is something other than a directory: a file, or what cannot be read as one, such as a device.
[[nodiscard]] inline bool is_single(const std::string& path) noexcept {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && !S_ISDIR(status.st_mode);
}

/// Whether there is a directory. False also where that cannot be found out.
[[nodiscard]] inline bool is_directory(const std::string& path) noexcept {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

/// The first part of a path that is a symbolic link to something that is not there; empty if there is none.
[[nodiscard]] inline std::string find_dangling_link(const std::string& path) {
  for (auto end = path.find('/', 1);; end = path.find('/', end + 1)) {
    auto part = path.substr(0, end);
    struct stat about{};
    if (::lstat(part.c_str(), &about) != 0) return {};
    if (S_ISLNK(about.st_mode) && ::stat(part.c_str(), &about) != 0 && errno == ENOENT) return part;
    if (end == path.npos) return {};
  }
}

}  // namespace cairn::inline v0_1::detail
