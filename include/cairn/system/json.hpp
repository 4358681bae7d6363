// Reads untrusted JSON as a series of events, and writes JSON strings. The reading rests on RapidJSON's SAX
// parser, which costs a user's unit a tenth of the compile time that richer libraries take.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <charconv>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <vector>

// RapidJSON's empty stack adds to a null pointer, which is harmless and which clang's sanitizer would report to our users.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((no_sanitize("pointer-overflow"))), apply_to = function)
#endif
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>
#if defined(__clang__)
#pragma clang attribute pop
#endif

#include "cairn/core/error.hpp"

namespace cairn {

/// One step through a JSON text.
struct json_event {
  enum class kind : std::uint8_t { open_object, open_array, close, string, natural, real, other };

  kind what{};
  /// Keys from the root to this value; an element of an array has the key "". A `close` has those of what it
  /// closes.
  const std::vector<std::string>& path;
  std::string_view text = {};  ///< of a string
  std::uint64_t number = 0;    ///< of an integer >= 0
  double real = 0;             ///< of any other number

  [[nodiscard]] bool at_depth(std::size_t depth) const noexcept { return path.size() == depth; }
};

namespace detail {

class json_walk {
 public:
  using kind = json_event::kind;

  json_walk(std::string_view origin, std::size_t max_depth, const std::function<void(const json_event&)>& handler)
      : origin_(origin), max_depth_(max_depth), handler_(handler) {}

  // RapidJSON's names for what a parser meets.
  bool Null() { return emit({kind::other, path_}); }
  bool Bool(bool /*value*/) { return emit({kind::other, path_}); }
  bool Int(int /*value*/) { return false; }
  bool Int64(std::int64_t /*value*/) { return false; }
  bool Uint(unsigned /*value*/) { return false; }
  bool Uint64(std::uint64_t /*value*/) { return false; }
  bool Double(double /*value*/) { return false; }
  bool RawNumber(const char* text, rapidjson::SizeType length, bool /*copy*/) {
    std::uint64_t number = 0;
    if (const auto [end, status] = std::from_chars(text, text + length, number);
        status == std::errc{} && end == text + length)
      return emit({kind::natural, path_, {}, number, 0});
    double real = 0;
    if (const auto [end, status] = std::from_chars(text, text + length, real);
        status != std::errc{} || end != text + length)
      fail(errc::corrupt, {origin_, ": the number ", std::string_view(text, length), " is out of range"});
    return emit({kind::real, path_, {}, 0, real});
  }
  bool String(const char* text, rapidjson::SizeType length, bool /*copy*/) {
    return emit({kind::string, path_, {text, length}, 0, 0});
  }
  bool StartObject() { return open(kind::open_object); }
  bool EndObject(rapidjson::SizeType /*members*/) { return close(); }
  bool StartArray() { return open(kind::open_array); }
  bool EndArray(rapidjson::SizeType /*elements*/) { return close(); }
  bool Key(const char* text, rapidjson::SizeType length, bool /*copy*/) {
    const std::string_view name(text, length);
    if (!keys_.back().emplace(name).second) fail(errc::corrupt, {origin_, ": the key \"", name, "\" appears twice"});
    path_.back() = name;
    return true;
  }

 private:
  bool emit(const json_event& event) {
    handler_(event);
    return true;
  }

  bool open(kind what) {
    if (path_.size() == max_depth_)
      fail(errc::corrupt, {origin_, ": JSON nested deeper than ", std::to_string(max_depth_), " levels"});
    emit({what, path_});
    path_.emplace_back();
    keys_.emplace_back();
    return true;
  }

  bool close() {
    path_.pop_back();
    keys_.pop_back();
    return emit({kind::close, path_});
  }

  std::string_view origin_;
  std::size_t max_depth_;
  const std::function<void(const json_event&)>& handler_;
  std::vector<std::string> path_;
  std::vector<std::set<std::string, std::less<>>> keys_;  // of every open container: duplicates are refused
};

/// Bytes of the UTF-8 character that `text` begins with; 0 when it is not one (overlong, surrogate, cut off).
[[nodiscard]] inline std::size_t utf8_length(std::string_view text) noexcept {
  const auto at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto continued = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xBF) {
    return at(i) >= low && at(i) <= high;
  };
  const unsigned first = at(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return continued(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF)
    return continued(1, first == 0xE0 ? 0xA0 : 0x80, first == 0xED ? 0x9F : 0xBF) && continued(2) ? 3 : 0;
  if (first >= 0xF0 && first <= 0xF4)
    return continued(1, first == 0xF0 ? 0x90 : 0x80, first == 0xF4 ? 0x8F : 0xBF) && continued(2) && continued(3) ? 4
                                                                                                                  : 0;
  return 0;
}

}  // namespace detail

/// Calls `handler` for every value of `text`, in order. `origin` names the text in messages. Throws
/// errc::corrupt for what is not JSON in UTF-8, for a key that appears twice in an object, and for nesting
/// deeper than `max_depth`.
inline void read_json(std::string_view text, std::string_view origin, std::size_t max_depth,
                      const std::function<void(const json_event&)>& handler) {
  if (text.empty() || text.front() != '{') fail(errc::corrupt, {origin, ": JSON that does not begin with \"{\""});
  if (text.find('\0') != text.npos) fail(errc::corrupt, {origin, ": malformed JSON: a zero byte"});
  detail::json_walk walk(origin, max_depth, handler);
  rapidjson::MemoryStream stream(text.data(), text.size());
  constexpr unsigned flags =
      rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag | rapidjson::kParseNumbersAsStringsFlag;
  if (rapidjson::Reader reader; reader.Parse<flags>(stream, walk).IsError())
    fail(errc::corrupt, {origin, ": malformed JSON at byte ", std::to_string(reader.GetErrorOffset())});
}

/// Appends `value` as a JSON string. errc::invalid, with `what` named, when it is not UTF-8.
inline void append_json(std::string& text, std::string_view value, std::string_view what) {
  text += '"';
  for (std::string_view rest = value; !rest.empty();) {
    const std::size_t length = detail::utf8_length(rest);
    if (length == 0) fail(errc::invalid, {what, " \"", value, "\" is not valid UTF-8 and cannot be stored"});
    const auto c = static_cast<unsigned char>(rest.front());
    if (c == '"' || c == '\\')
      text += {'\\', static_cast<char>(c)};
    else if (c < 0x20)
      text += {'\\', 'u', '0', '0', static_cast<char>('0' + (c >> 4U)), "0123456789abcdef"[c & 15U]};
    else
      text += rest.substr(0, length);
    rest.remove_prefix(length);
  }
  text += '"';
}

/// Appends a double that reads back exactly; NaN and infinities become the strings "nan", "inf", "-inf".
inline void append_json(std::string& text, double value) {
  if (!std::isfinite(value)) {
    text += std::isnan(value) ? "\"nan\"" : value > 0 ? "\"inf\"" : "\"-inf\"";
    return;
  }
  char digits[32];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

/// The number of an event, as `append_json(double)` writes it; false when it is none.
[[nodiscard]] inline bool read_real(const json_event& event, double& value) noexcept {
  using kind = json_event::kind;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (event.what == kind::natural)
    value = static_cast<double>(event.number);
  else if (event.what == kind::real)
    value = event.real;
  else if (event.what == kind::string && (event.text == "inf" || event.text == "-inf"))
    value = event.text == "inf" ? infinity : -infinity;
  else if (event.what == kind::string && event.text == "nan")
    value = std::numeric_limits<double>::quiet_NaN();
  else
    return false;
  return true;
}

}  // namespace cairn
