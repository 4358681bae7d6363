// SPDX-License-Identifier: MIT
// Tables, sizes, colours and progress, and what they show of a run.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cairn/inspect.hpp"

namespace program {

enum class style { plain, heading, good, bad };

/// `text` in the style, if that stream is a terminal whose user wants colours: NO_COLOR is not set, and TERM is not
/// dumb.
[[nodiscard]] std::string styled(const std::string& text, style as, int descriptor = 1);

/// `text` in one line, without control characters, which a terminal would obey. All texts of files go through it.
[[nodiscard]] std::string printable(const std::string& text);

/// Prints columns, the first `left` of them to the left, as `printable` texts.
class table {
 public:
  table(std::vector<std::string> titles, std::size_t left) : left_(left) { row(std::move(titles), style::heading); }
  void row(std::vector<std::string> cells, style as = style::plain) {
    for (auto& each : cells) each = printable(each);
    rows_.push_back({std::move(cells), as});
  }
  void print() const;

 private:
  struct line {
    std::vector<std::string> cells;
    style as;
  };

  std::vector<line> rows_;
  std::size_t left_;
};

/// 1536 -> "1.5 KiB".
[[nodiscard]] std::string size_text(std::uint64_t bytes);

/// "1 array", "2 arrays".
[[nodiscard]] std::string count_text(std::uint64_t count, const std::string& what);

/// Six significant digits.
[[nodiscard]] std::string number_text(double value);

/// The message of an error without "cairn: " at its beginning.
[[nodiscard]] std::string without_prefix(const std::string& message);

/// "whole", "delta" or "unreadable".
[[nodiscard]] const char* kind_of(const cairn::checkpoint_summary& one);

/// The checkpoints of a run. errc::not_found if there is none. All may be replaced while they are listed: then the list
/// is read again.
[[nodiscard]] std::vector<cairn::checkpoint_summary> checkpoints_of(const cairn::any_store& run);

/// When a checkpoint of a run was made, in seconds since 1970: when its index was written. 0 where that is not known.
[[nodiscard]] std::int64_t time_of(const cairn::any_store& run, const std::string& name);

/// The local time to the minute: "2026-11-28 16:04"; "-" for 0.
[[nodiscard]] std::string time_text(std::int64_t seconds);

/// The bytes of the files of a checkpoint and of those that it is built on, or of a file; 0 where they are not known.
[[nodiscard]] std::uint64_t bytes_at(const std::string& path);

/// A bar on the standard error, if that is a terminal: the bytes that the process has read and written meanwhile, over
/// those that it will. The destructor erases the bar.
class progress {
 public:
  /// With JSON, which is for scripts, there is no bar.
  progress(std::uint64_t total, bool json);
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;
  ~progress();

 private:
  void draw() const;

  std::uint64_t total_, before_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
  std::thread drawing_;
};

}  // namespace program
