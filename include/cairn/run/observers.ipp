// Definitions of observers.hpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "cairn/core/error.hpp"
#include "cairn/observers.hpp"
#include "cairn/system/json.hpp"
#include "cairn/system/posix.hpp"

namespace cairn::observers {
namespace detail {

/// Takes whole lines, from any thread.
class line_file {
 public:
  explicit line_file(std::FILE* stream) : stream_(stream) {}
  explicit line_file(posix::descriptor file) : file_(std::move(file)) {}

  void add(std::string_view line) {
    const std::lock_guard lock(mutex_);
    if (stream_ == nullptr)
      write(file_.get(), line);
    else
      add_to_stream(line);
  }

 private:
  /// Around the stream's buffer, which would cut a line into pieces, and then tells the stream where its file is now.
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

  /// Goes on only when a full disk or a signal cut the line; one that stays cut is ended before the next.
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

/// `text` with U+FFFD for every byte that is no part of a UTF-8 character.
CAIRN_INLINE std::string in_utf8(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const std::size_t length = cairn::detail::utf8_length(text);
    valid += length == 0 ? "\xEF\xBF\xBD" : text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return valid;
}

/// Seconds since 1970 with three decimals, whatever the locale.
CAIRN_INLINE std::string seconds_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  const auto decimals = std::to_string(1000 + milliseconds % 1000).substr(1);
  return std::to_string(milliseconds / 1000) + "." + decimals;
}

CAIRN_INLINE std::string json_line(const event& what) {
  std::string line = "{\"event\":";
  const auto add_text = [&](std::string_view key, std::string_view text) {
    if (text.empty()) return;
    line += key;
    append_json(line, in_utf8(text), "an event");
  };
  const auto add_number = [&](std::string_view key, std::uint64_t number) {
    if (number != 0) line.append(key).append(std::to_string(number));
  };
  append_json(line, name(what.what), "an event");
  line.append(",\"time\":").append(seconds_now()).append(",\"step\":").append(std::to_string(what.step));
  add_text(",\"checkpoint\":", what.checkpoint);
  add_number(",\"bytes\":", what.bytes);
  add_number(",\"total\":", what.total);
  if (what.seconds != 0) append_json(line += ",\"seconds\":", what.seconds);
  add_text(",\"message\":", what.message);
  return line += "}\n";
}

}  // namespace detail

CAIRN_INLINE json_lines::json_lines(std::FILE* stream, json_lines_options options)
    : file_(std::make_shared<detail::line_file>(stream)), options_(options) {}

CAIRN_INLINE json_lines::json_lines(const std::string& path, json_lines_options options) : options_(options) {
  auto file = posix::open_at(AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT);
  if (!file) fail_io("open", path);
  file_ = std::make_shared<detail::line_file>(std::move(file));
}

CAIRN_INLINE void json_lines::operator()(const event& what) const {
  if (what.what == event::kind::progress && !options_.progress) return;
  file_->add(detail::json_line(what));
}

}  // namespace cairn::observers
