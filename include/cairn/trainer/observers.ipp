// SPDX-License-Identifier: MIT
// Definitions of observers.hpp.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cinttypes>
#include <mutex>

#include "cairn/observers.hpp"
#include "cairn/system/json.hpp"

namespace cairn::inline v0_1::detail {

/// Appends lines to a stream, each by one call: a process that is killed leaves whole lines. What cannot be written is
/// lost. Thread-safe.
class line_file {
 public:
  /// Writes to `stream`, which must outlive it.
  explicit line_file(std::FILE* stream) : stream_(stream) {}

  /// Appends to the file `path`, which is created if there is none. errc::io when it cannot be opened.
  explicit line_file(const std::string& path)
      : file_(std::fopen(path.c_str(), "ae"), &std::fclose), stream_(file_.get()) {
    if (!file_) fail_io("open", path);
    buffer_.resize(std::size_t{64} << 10U);  // a longer line takes several calls
    std::setvbuf(stream_, buffer_.data(), _IOFBF, buffer_.size());
  }

  /// Appends `line`, which ends in a newline; after one that was cut, as by a full disk, on a line of its own.
  void add(std::string_view line) {
    const std::lock_guard lock(mutex_);
    if (is_cut_) std::fputc('\n', stream_);
    std::fwrite(line.data(), 1, line.size(), stream_);
    is_cut_ = std::fflush(stream_) != 0;
  }

 private:
  std::mutex mutex_;
  std::vector<char> buffer_;  // of the file, which uses it to its end
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{nullptr, &std::fclose};
  std::FILE* stream_;
  bool is_cut_ = false;
};

}  // namespace cairn::inline v0_1::detail

namespace cairn::inline v0_1::observers {
namespace detail {

/// Seconds since 1970 with three decimals, whatever the locale.
std::string seconds_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  const auto decimals = std::to_string(1000 + milliseconds % 1000).substr(1);
  return std::to_string(milliseconds / 1000) + "." + decimals;
}

std::string json_line(const event& what) {
  cairn::detail::json_writer json;
  const auto add_number = [&](std::string_view key, const auto& number) {
    if (number != 0) json.field(key, number);
  };
  json.object([&] {
    json.field("event", name(what.what));
    json.field("time", [&] { json.number(seconds_now()); });
    json.field("step", what.step);
    json.optional("checkpoint", cairn::detail::to_utf8(what.checkpoint));
    add_number("bytes", what.bytes);
    add_number("total", what.total);
    add_number("seconds", what.seconds);
    json.optional("message", cairn::detail::to_utf8(what.message));
    if (what.code) json.field("code", name(*what.code));
  });
  return json.take() + "\n";
}

/// What people read about an event.
[[nodiscard]] inline std::string sentence_of(const event& what) {
  char text[160];
  const double mebibytes = static_cast<double>(what.bytes) / (1024.0 * 1024.0);
  switch (what.what) {
    case event::kind::published:
    case event::kind::restored:
      std::snprintf(text, sizeof text, "step %" PRIu64 " %s, %.1f MiB in %.0f ms", what.step,
                    what.what == event::kind::published ? "saved" : "restored", mebibytes, 1000 * what.seconds);
      return what.message.empty() ? text : text + ("; " + what.message);
    case event::kind::stopping:
      std::snprintf(text, sizeof text, ", %.0f s left", what.seconds);
      return "stopping: " + what.message + text;
    default:
      return std::string(name(what.what)) + ": " + (what.message.empty() ? what.checkpoint : what.message);
  }
}

}  // namespace detail

progress_line::progress_line(std::FILE* stream) : stream_(stream), terminal_(::isatty(::fileno(stream)) == 1) {}

void progress_line::operator()(const event& what) const {
  if (what.what == event::kind::progress) {
    if (terminal_) draw_bar(what);
    return;
  }
  if (!is_shown(what.what)) return;
  std::fprintf(stream_, "%scairn: %s\n", terminal_ ? "\r\033[K" : "",
               cairn::detail::printable(detail::sentence_of(what)).c_str());
  std::fflush(stream_);
}

/// True for outcomes and warnings, not for the stages of a save. A skipped save is a line in a log only: on a terminal
/// the bar shows that a save is running.
bool progress_line::is_shown(event::kind what) const noexcept {
  using kind = event::kind;
  if (what == kind::skipped) return !terminal_;
  return what != kind::started && what != kind::copied && what != kind::encoded && what != kind::written;
}

void progress_line::draw_bar(const event& what) const {
  constexpr int bar_width = 30;
  const double share = what.total > 0 ? static_cast<double>(what.bytes) / static_cast<double>(what.total) : 1.0;
  const auto full = static_cast<std::size_t>(share * bar_width);
  const std::string bar = std::string(full, '=') + std::string(bar_width - full, ' ');
  std::fprintf(stream_, "\r\033[Kcairn: step %" PRIu64 " [%s] %3.0f %%", what.step, bar.c_str(), 100 * share);
  std::fflush(stream_);
}

json_lines::json_lines(std::FILE* stream, json_lines_options options)
    : file_(std::make_shared<cairn::detail::line_file>(stream)), options_(options) {}

json_lines::json_lines(const std::string& path, json_lines_options options)
    : file_(std::make_shared<cairn::detail::line_file>(path)), options_(options) {}

void json_lines::operator()(const event& what) const {
  if (what.what == event::kind::progress && !options_.progress) return;
  file_->add(detail::json_line(what));
}

all::all(std::initializer_list<observer> observers) : observers_(observers) {}

void all::operator()(const event& what) const {
  for (const auto& each : observers_) cairn::detail::notify(each, what);
}

}  // namespace cairn::inline v0_1::observers
