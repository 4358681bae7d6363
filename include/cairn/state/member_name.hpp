// SPDX-License-Identifier: MIT
// The names of members and types, read from the text of a function's signature that the compiler gives.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace cairn::inline v0_1::detail {

/// True for a character of an identifier, including every byte of a UTF-8 sequence.
constexpr bool is_identifier_char(char c) noexcept {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         static_cast<unsigned char>(c) >= 0x80;
}

/// The last identifier in `text`; in "... = ptr<T>{(&fake<S>.value.S::name)}]" it is "name".
constexpr std::string_view last_identifier(std::string_view text) noexcept {
  std::size_t end = text.size();
  while (end > 0 && !is_identifier_char(text[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && is_identifier_char(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

// `auto`, not std::string_view: g++ would add "std::string_view = ..." to the signature of a function that
// returns it. The length is given, as compilers count only to 262,144 in a constant.
template <auto Value>
consteval auto signature_of_value() {
  return std::string_view(__PRETTY_FUNCTION__, sizeof(__PRETTY_FUNCTION__) - 1);
}

template <class T>
consteval auto signature_of_type() {
  return std::string_view(__PRETTY_FUNCTION__, sizeof(__PRETTY_FUNCTION__) - 1);
}

/// A copy of a name, so that the whole signature does not become part of the program. Zeros follow a shorter one.
template <std::size_t Size>
struct short_name {
  std::array<char, Size> chars{};

  constexpr explicit short_name(std::string_view from) noexcept {
    for (std::size_t i = 0; i < Size; ++i) chars[i] = i < from.size() ? from[i] : '\0';
  }
  [[nodiscard]] constexpr std::string_view view() const noexcept { return {chars.data(), Size}; }
};

template <auto Member>
consteval std::string_view listed_name_view() {
  auto name = last_identifier(signature_of_value<Member>());
  if (name.size() > 1 && name.back() == '_') name.remove_suffix(1);
  return name;
}

template <auto Member>
inline constexpr short_name<listed_name_view<Member>().size()> stored_listed_name{listed_name_view<Member>()};

/// "hits" for &counter::hits_.
template <auto Member>
constexpr std::string_view listed_name() noexcept {
  return stored_listed_name<Member>.view();
}

template <class T>
consteval std::string_view type_name_view() {
  // g++: "... [with T = nn::dense]", clang: "... [T = nn::dense]"
  auto text = signature_of_type<T>();
  text.remove_prefix(text.find("T = ") + 4);
  return text.substr(0, text.rfind(']'));
}

template <class T>
inline constexpr short_name<type_name_view<T>().size()> stored_type_name{type_name_view<T>()};

/// "nn::dense", as the compiler spells it.
template <class T>
constexpr std::string_view type_name() noexcept {
  return stored_type_name<T>.view();
}

/// "dense" for "nn::dense"; empty for "nn::box<int>", whose arguments each compiler spells in its own way.
constexpr std::string_view class_name_in(std::string_view type_name) noexcept {
  return !type_name.empty() && is_identifier_char(type_name.back()) ? last_identifier(type_name) : std::string_view();
}

/// The name of the type behind a polymorphic pointer, as a checkpoint stores it: "dense".
template <class T>
constexpr std::string_view stored_class_name() noexcept {
  return class_name_in(type_name<T>());
}

}  // namespace cairn::inline v0_1::detail
