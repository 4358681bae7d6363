// SPDX-License-Identifier: MIT
#include "printing.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <string_view>
#include <system_error>

#include <sys/stat.h>
#include <unistd.h>

#include "cairn/core/error.hpp"
#include "cairn/inspect.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/system/posix.hpp"
#include "place.hpp"

namespace program {

std::string styled(const std::string& text, style as, int descriptor) {
  const auto is_set = [](const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr && *value != '\0';
  };
  const char* const terminal = std::getenv("TERM");
  const bool is_dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  if (as == style::plain || is_set("NO_COLOR") || is_dumb || ::isatty(descriptor) == 0) return text;
  const char* const code = as == style::heading ? "1" : as == style::good ? "32" : "31";
  return std::string("\x1b[") + code + 'm' + text + "\x1b[0m";
}

void table::print() const {
  const auto width_of = [](const std::string& text) {  // characters of UTF-8
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char each) { return (each & 0xC0) != 0x80; }));
  };
  std::vector<std::size_t> widths;
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      if (i == widths.size()) widths.push_back(0);
      widths[i] = std::max(widths[i], width_of(row.cells[i]));
    }
  for (const auto& [cells, as] : rows_) {
    std::string text;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string space(widths[i] - width_of(cells[i]), ' ');
      text += (i == 0 ? "" : "  ") + (i < left_ ? cells[i] + space : space + cells[i]);
    }
    std::cout << styled(text.substr(0, text.find_last_not_of(' ') + 1), as) << '\n';
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

const char* kind_of(const cairn::checkpoint_summary& one) {
  return !one.problem.empty() ? "unreadable" : one.parent.empty() ? "whole" : "delta";
}

std::vector<cairn::checkpoint_summary> checkpoints_of(const cairn::any_store& run) {
  constexpr int most = 10;
  for (int tries = 1; tries <= most; ++tries)
    if (auto all = cairn::list_checkpoints(run); !all.empty()) return all;
  cairn::fail(cairn::errc::not_found, {"there is no checkpoint in ", run.location()});
}

std::int64_t time_of(const cairn::any_store& run, const std::string& name) {
  struct stat about{};
  if (is_address(run.location())) return 0;
  try {
    const auto at = run.open(name)->location();
    const auto index = at + '/' + std::string(cairn::detail::index_file);
    return ::stat(index.c_str(), &about) == 0 ? about.st_mtim.tv_sec : 0;
  } catch (const cairn::error&) {
    return 0;
  }
}

std::string time_text(std::int64_t seconds) {
  const std::time_t time = seconds;
  std::tm local{};
  char text[32];
  if (seconds == 0 || ::localtime_r(&time, &local) == nullptr) return "-";
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &local)};
}

std::uint64_t bytes_at(const std::string& path) {
  std::error_code failure;
  if (cairn::detail::is_file(path)) return std::filesystem::file_size(path, failure);
  std::uint64_t bytes = 0;
  if (is_address(path)) return 0;
  try {
    const auto [place, entry] = cairn::detail::split_existing(path);
    const auto parsed = cairn::detail::parse_generation(entry);
    const auto last = parsed ? parsed->name : entry;
    const bool is_run = !cairn::stores::detail::has_publication(place, last);
    const auto listed = cairn::list_checkpoints(is_run ? path : place);
    std::map<std::string, cairn::checkpoint_summary> all;
    for (const auto& each : listed) all.emplace(each.name, each);
    auto name = is_run && !listed.empty() ? listed.back().name : last;
    for (auto at = all.find(name); at != all.end(); at = all.find(name)) {
      bytes += at->second.bytes;
      name = at->second.parent;
      all.erase(at);  // a damaged chain may be a ring
    }
  } catch (const cairn::error&) {
    return 0;  // what comes next reports it
  }
  return bytes;
}

namespace {

/// What the process has read and written so far.
std::uint64_t transferred() {
  std::ifstream counts("/proc/self/io");
  std::uint64_t sum = 0, value = 0;
  for (std::string name; counts >> name >> value;)
    if (name == "rchar:" || name == "wchar:") sum += value;
  return sum;
}

}  // namespace

progress::progress(std::uint64_t total, bool json) : total_(std::max<std::uint64_t>(total, 1)) {
  if (json || ::isatty(STDERR_FILENO) == 0) return;
  before_ = transferred();
  draw();
  drawing_ = std::thread([this] {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, std::chrono::milliseconds(100), [&] { return is_over_; })) draw();
  });
}

void progress::draw() const {
  constexpr std::size_t width = 30;
  const auto done = std::min(static_cast<double>(transferred() - before_) / static_cast<double>(total_), 1.0);
  const auto full = static_cast<std::size_t>(done * width);
  std::fprintf(stderr, "\r[%s%s] %3.0f %%\x1b[K", std::string(full, '#').c_str(),
               std::string(width - full, ' ').c_str(), 100 * done);
}

progress::~progress() {
  if (!drawing_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_one();
  drawing_.join();
  std::fputs("\r\x1b[K", stderr);
}

}  // namespace program
