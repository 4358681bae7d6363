// SPDX-License-Identifier: MIT
// A directory of a bench program's own.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

#include <unistd.h>

namespace bench {

/// A new directory in the one given, called `name` and six letters, deleted at the end.
class work_directory {
 public:
  work_directory(const std::filesystem::path& in, const std::string& name) {
    std::filesystem::create_directories(in);
    std::string made = std::filesystem::absolute(in / (name + ".XXXXXX"));
    if (!::mkdtemp(made.data())) throw std::runtime_error("cannot make a directory in " + in.string());
    path_ = made;
  }
  work_directory(const work_directory&) = delete;
  work_directory& operator=(const work_directory&) = delete;
  ~work_directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace bench
