// SPDX-License-Identifier: MIT
// Tables, sizes and progress.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace program {

/// Prints columns, the first `left` of them to the left.
class table {
 public:
  table(std::vector<std::string> titles, std::size_t left) : rows_{std::move(titles)}, left_(left) {}
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  void print() const;

 private:
  std::vector<std::vector<std::string>> rows_;
  std::size_t left_;
};

/// 1536 -> "1.5 KiB".
[[nodiscard]] std::string size_text(std::uint64_t bytes);

/// "1 array", "2 arrays".
[[nodiscard]] std::string count_text(std::uint64_t count, const std::string& what);

/// Six significant digits.
[[nodiscard]] std::string number_text(double value);

/// `text` without control characters, which a terminal would obey.
[[nodiscard]] std::string printable(const std::string& text);

/// The message of an error without "cairn: " at its beginning.
[[nodiscard]] std::string without_prefix(const std::string& message);

/// A bar on the standard error, if that is a terminal; it is erased when the object goes.
class progress {
 public:
  explicit progress(std::size_t total);
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;
  ~progress();
  void add(const std::string& what);

 private:
  std::size_t total_, done_ = 0;
  bool is_shown_;
};

}  // namespace program
