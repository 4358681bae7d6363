// SPDX-License-Identifier: MIT
// NaN and infinities, told by their bits: with -ffast-math a compiler takes std::isnan to be false. It also takes the
// results of operations and arguments that are passed by value to be finite; that is why they are passed by reference,
// and their bits through a register.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "cairn/core/config.hpp"

namespace cairn::inline v0_1::detail {

inline constexpr std::uint32_t float_exponent_bits = 0x7F80'0000;
inline constexpr std::uint64_t double_exponent_bits = 0x7FF0'0000'0000'0000;  // also the bits of infinity
inline constexpr std::uint64_t double_sign_bit = 0x8000'0000'0000'0000;
inline constexpr std::uint64_t quiet_nan_bits = 0x7FF8'0000'0000'0000;

/// The same bits, of which the compiler then knows nothing.
template <class Bits>
[[nodiscard]] constexpr Bits hidden(Bits bits) noexcept {
#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
  if (!std::is_constant_evaluated()) asm("" : "+r"(bits));
#endif
  return bits;
}
template <class Bits, class Float>
[[nodiscard]] constexpr Bits bits_of(const Float& value) noexcept {
  return hidden(std::bit_cast<Bits>(value));
}

/// Infinity, which a compiler may take not to exist where it sees it. -1: negative.
template <class Float = double>
[[nodiscard]] constexpr Float infinite(int sign = 1) noexcept {
  using bits = std::conditional_t<sizeof(Float) == 4, std::uint32_t, std::uint64_t>;
  const bits positive = sizeof(Float) == 4 ? float_exponent_bits : static_cast<bits>(double_exponent_bits);
  return std::bit_cast<Float>(hidden(sign < 0 ? positive | bits{1} << (8 * sizeof(Float) - 1) : positive));
}

[[nodiscard]] constexpr bool is_finite(const float& value) noexcept {
  return (bits_of<std::uint32_t>(value) & float_exponent_bits) != float_exponent_bits;
}
[[nodiscard]] constexpr bool is_finite(const double& value) noexcept {
  return (bits_of<std::uint64_t>(value) & double_exponent_bits) != double_exponent_bits;
}

[[nodiscard]] constexpr bool is_infinite(const float& value) noexcept {
  return bits_of<std::uint32_t>(value) << 1U == float_exponent_bits << 1U;
}
[[nodiscard]] constexpr bool is_infinite(const double& value) noexcept {
  return bits_of<std::uint64_t>(value) << 1U == double_exponent_bits << 1U;
}

[[nodiscard]] constexpr bool is_nan(const float& value) noexcept { return !is_finite(value) && !is_infinite(value); }
[[nodiscard]] constexpr bool is_nan(const double& value) noexcept { return !is_finite(value) && !is_infinite(value); }

/// Above 0, and not NaN.
[[nodiscard]] constexpr bool is_positive(const double& value) noexcept { return !is_nan(value) && value > 0; }

[[nodiscard]] constexpr bool is_negative(const double& value) noexcept {
  return (bits_of<std::uint64_t>(value) & double_sign_bit) != 0;
}

}  // namespace cairn::inline v0_1::detail
