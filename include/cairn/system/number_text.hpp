// SPDX-License-Identifier: MIT
// Reads a number from the whole of a text, in the notation of JSON, whatever the locale.
#pragma once

#include <charconv>
#include <clocale>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

#include "cairn/core/float_bits.hpp"

namespace cairn::inline v0_1::detail {

/// False if the text has more than a number, or one that is out of range.
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

}  // namespace cairn::inline v0_1::detail
