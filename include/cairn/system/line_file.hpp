// SPDX-License-Identifier: MIT
// A file to which whole lines are appended, from any thread.
#pragma once

#include <cstddef>
#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>

#include "cairn/core/error.hpp"
#include "cairn/system/posix.hpp"

namespace cairn::inline v0_1::detail {

/// Appends each line by one call, so a killed process leaves whole lines. What cannot be written is lost. Thread-safe.
class line_file {
 public:
  /// Writes to `stream`, which must outlive it.
  explicit line_file(std::FILE* stream) : stream_(stream) {}

  /// Appends to the file `path`, which is created if there is none. errc::io when it cannot be opened.
  explicit line_file(const std::string& path) : file_(posix::open_at(AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT)) {
    if (!file_) fail_io("open", path);
  }

  /// Appends `line`, which ends in a newline.
  void add(std::string_view line) {
    const std::lock_guard lock(mutex_);
    if (stream_ == nullptr)
      write(file_.get(), line);
    else
      add_to_stream(line);
  }

 private:
  /// Bypasses the stream's buffer, which would cut lines into pieces; then moves the stream to the file's new position.
  void add_to_stream(std::string_view line) {
    ::flockfile(stream_);
    std::fflush(stream_);
    if (const int number = ::fileno(stream_); number >= 0) {
      write(number, line);
      if (const auto here = ::lseek(number, 0, SEEK_CUR); here >= 0) ::fseeko(stream_, here, SEEK_SET);
    } else {  // a stream over memory
      std::fwrite(line.data(), 1, line.size(), stream_);
      std::fflush(stream_);
    }
    ::funlockfile(stream_);
  }

  /// Writes more than once only if a full disk or a signal cut the line; ends a line that stayed cut before the next.
  void write(int number, std::string_view line) {
    const std::string ended = cut_ ? "\n" + std::string(line) : std::string();
    for (std::string_view left = cut_ ? ended : line; !left.empty();) {
      const auto done = posix::retried([&] { return ::write(number, left.data(), left.size()); });
      if (done <= 0) return;
      left.remove_prefix(static_cast<std::size_t>(done));
      cut_ = !left.empty();
    }
  }

  std::mutex mutex_;
  std::FILE* stream_ = nullptr;
  posix::descriptor file_;
  bool cut_ = false;  // the last line lacks its end
};

}  // namespace cairn::inline v0_1::detail
