// SPDX-License-Identifier: MIT
// Reads untrusted JSON of a given form (json_form), and writes JSON. Only json.ipp includes RapidJSON, which does both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace cairn::inline v0_1::detail {

/// A JSON text nested deeper than this is refused.
inline constexpr std::size_t max_json_depth = 8;

/// Cairn takes at most this many bytes of memory for each byte of JSON that it reads, until a load has ended.
inline constexpr std::uint64_t json_memory_factor = 28;

/// A text or number in a JSON text.
struct json_value {
  std::string_view key;   ///< of the member; empty in a list
  std::string_view text;  ///< of a text
  std::uint64_t natural;  ///< of a natural number
  double real;            ///< of a real number
};

struct json_field;

/// The form that a value must have, and functions that use the value. Made by the functions json_text to json_map below.
struct json_form {
  enum class kind : std::uint8_t {
    text,     ///< a string
    natural,  ///< an integer from 0 to 2^64 - 1
    real,     ///< a number, or one of the strings "nan", "inf", "-inf"
    list,     ///< an array
    object,
    ignored  ///< any value
  };

  /// Uses a value. Returns what is wrong with it, "" if nothing is.
  using use = std::function<std::string(const json_value&)>;
  using at_open = std::function<void(std::string_view key)>;
  /// Keeps a key, whose value follows. Returns false if it has been there before.
  using at_key = std::function<bool(std::string_view key)>;
  /// Returns what the list or object lacks, "" if nothing.
  using at_close = std::function<std::string(std::string_view key)>;

  kind what = kind::ignored;
  use take{};                      ///< of a text or a number
  at_open open{};                  ///< of a list or an object
  at_close close{};                ///< of a list or an object
  at_key add{};                    ///< of an object: for the fields that are not in `fields`
  std::vector<json_field> fields;  ///< of an object: at most 64
  /// The form of the elements of a list, or of the fields of an object that are not in `fields`. Null: such fields are refused.
  std::shared_ptr<const json_form> others{};
};

struct json_field {
  std::string_view name;
  json_form form;
  bool required = true;
  bool last = false;  ///< the reader ignores what follows in the text, and does not check it
};

/// Reads a JSON object of the form `root`. `origin` names the text in messages. errc::corrupt names the field and the cause: not
/// JSON in UTF-8, not of the form, a key that appears twice in an object, too deep.
void read_json(std::string_view text, std::string_view origin, const json_form& root);

/// Writes one JSON value. Each function except `line` and `take` writes the next part of it.
class json_writer {
 public:
  json_writer();
  json_writer(const json_writer&) = delete;
  json_writer& operator=(const json_writer&) = delete;
  ~json_writer();

  json_writer& begin_object();
  json_writer& end_object();
  json_writer& begin_list();
  json_writer& end_list();
  /// A string, and spaces after one that is shorter than `least_bytes` with its quotes. errc::invalid, with `what` named, when it is
  /// not UTF-8.
  json_writer& text(std::string_view value, std::string_view what = "a text", std::size_t least_bytes = 0);
  /// The key of the next value; as `text`.
  json_writer& key(std::string_view name, std::string_view what = "a key") { return text(name, what); }
  json_writer& natural(std::uint64_t value);
  /// The shortest text that reads back exactly; NaN and infinities become the strings "nan", "inf", "-inf".
  json_writer& real(const double& value);  // by reference: see float_bits.hpp
  /// A number that is a text already.
  json_writer& number(std::string_view digits);
  /// Begins a new line before the next key or value.
  json_writer& line();

  /// What has been written. Nothing can be written after that.
  [[nodiscard]] std::string take();

 private:
  class output;
  std::unique_ptr<output> output_;
};

/// `text` with U+FFFD for every byte that is no part of a UTF-8 character.
[[nodiscard]] std::string to_utf8(std::string_view text);

/// `take(const json_value&)` uses the value. It returns nothing, or what is wrong with the value, "" if nothing is.
template <class Take>
[[nodiscard]] json_form json_scalar(json_form::kind what, Take take) {
  json_form form;
  form.what = what;
  if constexpr (std::is_void_v<std::invoke_result_t<Take&, const json_value&>>)
    form.take = [take = std::move(take)](const json_value& value) { return take(value), std::string(); };
  else
    form.take = std::move(take);
  return form;
}
template <class Take>
[[nodiscard]] json_form json_text(Take take) {
  return json_scalar(json_form::kind::text, std::move(take));
}
template <class Take>
[[nodiscard]] json_form json_natural(Take take) {
  return json_scalar(json_form::kind::natural, std::move(take));
}
template <class Take>
[[nodiscard]] json_form json_real(Take take) {
  return json_scalar(json_form::kind::real, std::move(take));
}
[[nodiscard]] json_form json_list(json_form element, json_form::at_open open = {}, json_form::at_close close = {});
/// Exactly these fields, but for those that are not required.
[[nodiscard]] json_form json_object(std::vector<json_field> fields, json_form::at_open open = {},
                                    json_form::at_close close = {});
/// Any fields, of one form. `add` keeps their keys: the reader does not, so that they are in memory once.
[[nodiscard]] json_form json_map(json_form value, json_form::at_key add);

/// Adds a value without key or text to a map, and lets `last` point to it. False if the key is there already.
template <class Map, class Value>
[[nodiscard]] bool make_member(Map& map, std::string_view key, Value*& last) {
  const auto [at, is_new] = map.try_emplace(std::string(key));
  last = &at->second;
  return is_new;
}

}  // namespace cairn::inline v0_1::detail
