// Definitions of observers.hpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "cairn/observers.hpp"
#include "cairn/system/json.hpp"
#include "cairn/system/line_file.hpp"

namespace cairn::observers {
namespace detail {

/// Seconds since 1970 with three decimals, whatever the locale.
CAIRN_INLINE std::string seconds_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  const auto decimals = std::to_string(1000 + milliseconds % 1000).substr(1);
  return std::to_string(milliseconds / 1000) + "." + decimals;
}

CAIRN_INLINE std::string json_line(const event& what) {
  cairn::detail::json_writer json;
  const auto add_text = [&](std::string_view key, std::string_view text) {
    if (!text.empty()) json.key(key).text(cairn::detail::to_utf8(text));
  };
  const auto add_number = [&](std::string_view key, std::uint64_t number) {
    if (number != 0) json.key(key).natural(number);
  };
  json.begin_object().key("event").text(name(what.what));
  json.key("time").number(seconds_now()).key("step").natural(what.step);
  add_text("checkpoint", what.checkpoint);
  add_number("bytes", what.bytes);
  add_number("total", what.total);
  if (what.seconds != 0) json.key("seconds").real(what.seconds);
  add_text("message", what.message);
  return json.end_object().take() + "\n";
}

}  // namespace detail

CAIRN_INLINE json_lines::json_lines(std::FILE* stream, json_lines_options options)
    : file_(std::make_shared<cairn::detail::line_file>(stream)), options_(options) {}

CAIRN_INLINE json_lines::json_lines(const std::string& path, json_lines_options options)
    : file_(std::make_shared<cairn::detail::line_file>(path)), options_(options) {}

CAIRN_INLINE void json_lines::operator()(const event& what) const {
  if (what.what == event::kind::progress && !options_.progress) return;
  file_->add(detail::json_line(what));
}

}  // namespace cairn::observers
