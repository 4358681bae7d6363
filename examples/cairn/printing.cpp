// SPDX-License-Identifier: MIT
#include "printing.hpp"

#include <algorithm>
#include <cstdio>
#include <iostream>

#include <unistd.h>

#include "cairn/core/printable.hpp"

namespace program {

void table::print() const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i == widths.size()) widths.push_back(0);
      widths[i] = std::max(widths[i], row[i].size());
    }
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - row[i].size(), ' ');
      line += (i == 0 ? "" : "  ") + (i < left_ ? row[i] + space : space + row[i]);
    }
    std::cout << line.substr(0, line.find_last_not_of(' ') + 1) << '\n';
  }
}

std::string size_text(std::uint64_t bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  auto value = static_cast<double>(bytes);
  for (; value >= 1024 && unit < 6; ++unit) value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return text;
}

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

std::string count_text(std::uint64_t count, const std::string& what) {
  return std::to_string(count) + ' ' + what + (count == 1 ? "" : "s");
}

std::string without_prefix(const std::string& message) {
  const std::string prefix = "cairn: ";
  return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
}

std::string printable(const std::string& text) { return cairn::detail::printable(text); }

progress::progress(std::size_t total) : total_(total), is_shown_(total > 1 && ::isatty(STDERR_FILENO) != 0) {}

void progress::add(const std::string& what) {
  ++done_;
  if (!is_shown_) return;
  constexpr std::size_t width = 30;
  const auto full = width * done_ / total_;
  std::fprintf(stderr, "\r[%s%s] %zu/%zu %.40s\x1b[K", std::string(full, '#').c_str(),
               std::string(width - full, ' ').c_str(), done_, total_, printable(what).c_str());
}

progress::~progress() {
  if (is_shown_ && done_ > 0) std::fputs("\r\x1b[K", stderr);
}

}  // namespace program
