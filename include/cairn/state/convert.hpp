// SPDX-License-Identifier: MIT
// Converts elements from one dtype to another, and says which conversions keep every value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "cairn/core/dtype.hpp"

namespace cairn::inline v0_1 {

/// Which differences of dtype between a checkpoint and a state a load converts.
enum class conversion : std::uint8_t {
  none,      ///< none: another dtype is a mismatch
  widening,  ///< those that keep every value: F16 -> F32, I32 -> F64, U8 -> I16, ...
  any        ///< between floating types also with rounding; between integers where every stored value fits
};

namespace detail {

/// True where every value of `from` has an equal value of `to`.
[[nodiscard]] constexpr bool is_widening(dtype from, dtype to) noexcept {
  if (from == to) return true;
  if (to == dtype::boolean || (is_floating(from) && !is_floating(to))) return false;
  if (is_signed_integer(from) && !is_signed_integer(to) && !is_floating(to)) return false;
  const auto& have = dtype_table[static_cast<std::size_t>(from)];
  const auto& want = dtype_table[static_cast<std::size_t>(to)];
  // The digits must fit. From floating to floating types the smallest denormal must too, which is 2^(3 - exponent -
  // digits), for E4M3 twice that. From integers to floating types the range must.
  return have.digits <= want.digits &&
         (!is_floating(to) || (have.exponent + have.digits) <= (want.exponent + want.digits)) &&
         (is_floating(from) || !is_floating(to) || have.digits <= want.exponent);
}

/// True where a load with `allowed` may read `from` into `to`. Integers have to fit too, which `convert` checks.
[[nodiscard]] constexpr bool is_convertible(dtype from, dtype to, conversion allowed) noexcept {
  if (from == to) return true;
  if (allowed == conversion::none) return false;
  if (allowed == conversion::widening) return is_widening(from, to);
  return to != dtype::boolean && (is_floating(to) || !is_floating(from));
}

/// Which option of a load would convert `from` into `to`, for the message of an error; empty if none does.
[[nodiscard]] constexpr std::string_view conversion_advice(dtype from, dtype to) noexcept {
  if (is_convertible(from, to, conversion::widening)) return " (load with convert = conversion::widening)";
  return is_convertible(from, to, conversion::any) ? " (load with convert = conversion::any)" : "";
}

/// Converts `in.size() / size_of(from)` elements between types for which `is_convertible`. Values round to nearest
/// even; integers of more than 53 bits, first to double. False when an integer does not fit into `to`; `out` then has a
/// part of the result.
[[nodiscard]] bool convert(dtype from, std::span<const std::byte> in, dtype to, std::span<std::byte> out) noexcept;

}  // namespace detail
}  // namespace cairn::inline v0_1
