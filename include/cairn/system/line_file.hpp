// SPDX-License-Identifier: MIT
// A file to which whole lines are appended, from any thread.
#pragma once

#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>

#include "cairn/system/posix.hpp"

namespace cairn::inline v0_1::detail {

/// Appends each line by one call, so that a process that is killed leaves whole lines. What cannot be written is lost. Thread-safe.
class line_file {
 public:
  /// Writes to `stream`, which must outlive it.
  explicit line_file(std::FILE* stream) : stream_(stream) {}

  /// Appends to the file `path`, which is created if there is none. errc::io when it cannot be opened.
  explicit line_file(const std::string& path);

  /// Appends `line`, which ends in a newline.
  void add(std::string_view line);

 private:
  void add_to_stream(std::string_view line);
  void write(int number, std::string_view line);

  std::mutex mutex_;
  std::FILE* stream_ = nullptr;
  posix::descriptor file_;
  bool cut_ = false;  // the last line lacks its end
};

}  // namespace cairn::inline v0_1::detail
