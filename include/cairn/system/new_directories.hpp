// SPDX-License-Identifier: MIT
// The directories that an operation makes above its output: removed again if it fails.
#pragma once

#include <cerrno>
#include <string>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

#include "cairn/system/paths.hpp"

namespace cairn::inline v0_1::detail {

/// The directories of `path`, itself included, that are missing when it is constructed. The destructor removes those of them that are empty, unless `keep`
/// was called.
class new_directories {
 public:
  explicit new_directories(const std::string& path) {
    struct stat about{};
    for (auto at = absolute_path(path); ::stat(at.c_str(), &about) != 0 && errno == ENOENT && at != "/";
         at = split_path(at).directory)
      missing_.push_back(at);
  }
  new_directories(const new_directories&) = delete;
  new_directories& operator=(const new_directories&) = delete;
  ~new_directories() {
    for (const auto& each : missing_)
      if (::rmdir(each.c_str()) != 0 && errno != ENOENT) return;
  }

  void keep() noexcept { missing_.clear(); }

 private:
  std::vector<std::string> missing_;  // the deepest first
};

}  // namespace cairn::inline v0_1::detail
