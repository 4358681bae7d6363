// SPDX-License-Identifier: MIT
// JSON that one description of each record writes, and reads from untrusted text:
//
//   template <class Io>
//   void describe(Io& io, described<Io, point>& at) {
//     io.object([&] {
//       io.field("x", at.x);
//       io.optional("label", at.label);
//     });
//     io.require(at.x < 9, "is too far");
//   }
//
// Io is json_writer or json_reader. The reader takes the fields in any order: it calls the function again as long as
// there are fields left, so the function says what fields there are, and no more. Only json.ipp includes RapidJSON.
#pragma once

#include <array>
#include <charconv>
#include <clocale>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "cairn/core/error.hpp"
#include "cairn/core/float_bits.hpp"

namespace cairn::inline v0_1::detail {

/// A JSON text nested deeper than this is refused.
inline constexpr std::size_t max_json_depth = 8;

/// Cairn takes at most this many bytes of memory for each byte of JSON that it reads, until a load has ended.
inline constexpr std::uint64_t json_memory_factor = 28;

/// Strings in a list are written with spaces, to this length. That bounds their number by the length of the text.
inline constexpr std::size_t least_listed_bytes = 5;

/// Reads a number from the whole of a text, in the notation of JSON, whatever the locale. False if the text has more
/// than a number, or one that is out of range.
template <class Number>
[[nodiscard]] bool read_number(std::string_view text, Number& number) {
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  return status == std::errc{} && end == text.data() + text.size();
}

/// The same, where std::from_chars reads no real numbers, as in libc++ 19.
[[nodiscard]] inline bool read_number_of_c(std::string_view text, double& number) {
  static const ::locale_t c_locale = ::newlocale(LC_ALL_MASK, "C", nullptr);
  const std::string terminated(text);
  char* end = nullptr;
  number = ::strtod_l(terminated.c_str(), &end, c_locale);
  const bool is_zero = text.find_first_of("123456789") >= text.find_first_of("eE");  // npos is the largest
  return !text.empty() && end == terminated.c_str() + text.size() && is_finite(number) && (number != 0 || is_zero);
}

#if !defined(__cpp_lib_to_chars)
[[nodiscard]] inline bool read_number(std::string_view text, double& number) { return read_number_of_c(text, number); }
#endif

/// A record: a constant where it is written.
template <class Io, class T>
using described = std::conditional_t<Io::reads, T, const T>;

/// A record that may lack: a pointer to it where it is written.
template <class Io, class T>
using maybe = std::conditional_t<Io::reads, std::optional<T>, const T*>;

/// Whether an optional field is written: not one that is empty or false. Numbers always are.
template <class T>
[[nodiscard]] bool is_there(const T& value) {
  if constexpr (requires { value.empty(); })
    return !value.empty();
  else if constexpr (requires { *value; } || std::is_same_v<T, bool>)
    return static_cast<bool>(value);
  else
    return true;
}

/// Writes values in the order of the calls. errc::invalid for text that is not UTF-8.
class json_writer {
 public:
  static constexpr bool reads = false;
  json_writer();
  ~json_writer();

  json_writer& begin_object();
  json_writer& end_object();
  json_writer& begin_list();
  json_writer& end_list();
  /// A string, and spaces after one that is shorter than `least_bytes` with its quotes. Errors name the `field`.
  json_writer& text(std::string_view value, std::string_view field = {}, std::size_t least_bytes = 0);
  /// The key of the next value, in the field `field`.
  json_writer& key(std::string_view name, std::string_view field = {}) { return text(name, field); }
  json_writer& natural(std::uint64_t value);
  /// The shortest text that reads back exactly; NaN and infinities become the strings "nan", "inf", "-inf".
  json_writer& real(const double& value);  // by reference: see float_bits.hpp
  /// A number that is a text already.
  json_writer& number(std::string_view digits);
  /// Begins a new line before the next key or value.
  json_writer& line();
  /// What has been written. Nothing can be written after that.
  [[nodiscard]] std::string take();

  /// For descriptions: see json_reader.
  void object(const auto& fields) {
    begin_object();
    fields();
    end_object();
  }
  void field(std::string_view name, const auto& of, std::string_view in = {}) {
    key(name, in);
    value(of, name);
  }
  void optional(std::string_view name, const auto& of) {
    if (is_there(of)) field(name, of);
  }
  void part(std::string_view name, const auto& whole, auto of) {
    if (whole) optional(name, (*whole).*of);
  }
  void members(const auto& all, std::string_view in = {}) {
    for (const auto& each : all) {
      if constexpr (requires { each.key; })
        field(each.key, each, in);
      else
        field(each.first, each.second, in);
    }
  }
  std::size_t list(std::size_t count, const auto& each) {
    begin_list();
    for (std::size_t i = 0; i < count; ++i) each(i);
    end_list();
    return count;
  }
  void require(bool /*holds*/, std::string_view /*fault*/) const {}

  template <class T>
  void value(const T& of, std::string_view in = {}) {
    if constexpr (std::is_invocable_v<const T&>)
      of();
    else if constexpr (std::is_convertible_v<const T&, std::string_view>)
      text(of, in);
    else if constexpr (std::is_unsigned_v<T>)
      natural(of);
    else if constexpr (std::is_floating_point_v<T>)
      real(of);
    else if constexpr (requires { *of; })
      value(*of, in);
    else if constexpr (requires { typename T::mapped_type; })
      object([&] { members(of, in); });
    else if constexpr (requires(T list) { list.emplace_back(); })
      list(of.size(), [&](std::size_t i) { element(of[i], in); });
    else
      describe(*this, of);
  }

 private:
  class output;
  void element(const auto& of, std::string_view in) { value(of, in); }
  void element(const std::string& of, std::string_view in) { text(of, in, least_listed_bytes); }

  std::unique_ptr<output> output_;
};

/// Reads a text. errc::corrupt, with `origin` and the keys that lead to the wrong value, for all that is not as it is
/// described: a key that appears twice, a field that lacks or is not known, a value of another kind.
class json_reader {
 public:
  static constexpr bool reads = true;
  json_reader(std::string_view text, std::string_view origin);
  ~json_reader();

  /// An object whose fields `fields()` says: at most 64, and any number of `members`.
  void object(const auto& fields) {
    open('{', "an object");
    next_key(true);
    do fields();
    while (!end_object());
  }
  /// A field that has to be there. Whether it is the next one, which has been read into `to`.
  bool field(std::string_view name, auto&& to) { return is_next(name, true) && read(to); }
  /// One that may lack.
  bool optional(std::string_view name, auto&& to) { return is_next(name, false) && read(to); }
  /// An optional field that is a member of `whole`, which it makes.
  template <class Whole, class T>
  bool part(std::string_view name, std::optional<Whole>& whole, T Whole::* to) {
    if (!is_next(name, false)) return false;
    Whole& there = whole ? *whole : whole.emplace();  // with a name: g++ 12 reads into a copy of one without
    return read(there.*to);
  }
  /// The fields not named before: elements of a map; or of a vector, with a member `key`, which may come twice.
  template <class All>
  void members(All& all) {
    const std::string* key = next_other();
    if (key == nullptr) return;
    if constexpr (requires { typename All::mapped_type; }) {
      const auto [at, is_new] = all.try_emplace(*key);
      if (!is_new) refuse_key();
      read(at->second);
    } else {
      all.emplace_back().key = *key;
      read(all.back());
    }
  }
  /// As `members`, for fields that are not used.
  void ignore_others();
  void skip();  ///< passes over a value
  /// Nothing more of the text is looked at. For the outermost object, after a field that has to be there.
  void ignore_rest() {
    ignores_rest_ = true;
    levels_[0].has_next = false;
  }
  /// Calls `each(i)` for each element, and returns their number. `count` is of a list that is written.
  std::size_t list(std::size_t /*count*/, const auto& each) {
    open('[', "a list");
    std::size_t i = 0;
    for (; !end_list(i == 0); ++i) each(i);
    return i;
  }
  /// Refuses the value that has been read, or the field that contains it, unless it `holds`.
  void require(bool holds, std::string_view fault, errc code = errc::corrupt) const {
    if (!holds) refuse(fault, depth_, code);
  }
  void line() const {}
  template <class T>
  void value(T& to) {
    if constexpr (std::is_invocable_v<T&>)
      to();
    else if constexpr (std::is_same_v<T, std::string>)
      to = text();
    else if constexpr (std::is_same_v<T, bool>)
      to = flag();
    else if constexpr (std::is_unsigned_v<T>)
      to = natural();
    else if constexpr (std::is_floating_point_v<T>)
      real(to);
    else if constexpr (requires { to.has_value(); })
      value(to.emplace());
    else if constexpr (requires { typename T::mapped_type; })
      object([&] { members(to); });
    else if constexpr (requires(T list) { list.emplace_back(); })
      list(0, [&](std::size_t) { element(to.emplace_back()); });
    else
      describe(*this, to);
  }
  /// Checks that the text has ended.
  void end();

 private:
  struct scalars;
  /// An open list or object.
  struct level {
    std::string key{};          // of the next or the present field; empty in a list
    bool has_next = false;      // `key` is of the next field, in this pass of the function that says the fields
    bool is_read = false;       // a field has been read in this pass
    bool lacks_some = false;    // a field has not been there up to now
    bool is_last_pass = false;  // which finds out which field that is
    std::size_t fields = 0;     // in this pass
    std::uint64_t seen = 0;     // bit i: field number i has been there
  };

  bool read(auto& to) {
    value(to);
    next_key(false);
    return true;
  }
  void element(auto& to) { value(to); }
  void element(std::string& to);

  [[nodiscard]] bool end_object();
  [[nodiscard]] bool end_list(bool is_first);
  void open(char bracket, std::string_view kind);
  void next_key(bool is_first);
  [[nodiscard]] bool is_next(std::string_view name, bool is_required);
  [[nodiscard]] const std::string* next_other();

  [[nodiscard]] char peek();
  /// Whether the next character is that one, which is passed over.
  [[nodiscard]] bool passes(char c);
  /// A text without its quotes, a number, true, false or null. Valid until the next call.
  [[nodiscard]] std::string_view scalar();
  [[nodiscard]] std::string_view text();
  [[nodiscard]] std::uint64_t natural();
  [[nodiscard]] bool flag();
  void real(double& to);
  /// Names the keys of the outermost `levels`.
  [[noreturn]] void refuse(std::string_view fault, std::size_t levels, errc code = errc::corrupt) const;
  [[noreturn]] void refuse_key() const;
  [[noreturn]] void refuse_json(std::size_t at) const;

  std::string_view text_, origin_;
  std::size_t at_ = 0;  // what has been read of the text
  std::unique_ptr<scalars> scalars_;
  std::array<level, max_json_depth> levels_{};
  std::size_t depth_ = 0;
  std::size_t strings_left_;  // in lists
  bool ignores_rest_ = false;
};

/// A record as JSON text.
template <class T>
[[nodiscard]] std::string to_json(const T& record) {
  json_writer io;
  io.value(record);
  return io.take();
}

/// A record of an untrusted text; errors name `origin`.
template <class T>
[[nodiscard]] T from_json(std::string_view text, std::string_view origin) {
  T record{};
  json_reader io(text, origin);
  io.value(record);
  io.end();
  return record;
}

/// `text` with U+FFFD for every byte that is no part of a UTF-8 character.
[[nodiscard]] std::string to_utf8(std::string_view text);

}  // namespace cairn::inline v0_1::detail
