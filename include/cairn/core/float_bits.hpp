// SPDX-License-Identifier: MIT
// NaN and infinities, told by their bits: with -ffast-math a compiler takes std::isnan to be false. By reference, since Clang then also takes
// arguments that are passed by value to be finite.
#pragma once

#include <bit>
#include <cstdint>

#include "cairn/core/config.hpp"

namespace cairn::inline v0_1::detail {

inline constexpr std::uint32_t float_exponent_bits = 0x7F80'0000;
inline constexpr std::uint64_t double_exponent_bits = 0x7FF0'0000'0000'0000;  // also the bits of infinity
inline constexpr std::uint64_t double_sign_bit = 0x8000'0000'0000'0000;
inline constexpr std::uint64_t quiet_nan_bits = 0x7FF8'0000'0000'0000;

[[nodiscard]] constexpr bool is_finite(const float& value) noexcept {
  return (std::bit_cast<std::uint32_t>(value) & float_exponent_bits) != float_exponent_bits;
}
[[nodiscard]] constexpr bool is_finite(const double& value) noexcept {
  return (std::bit_cast<std::uint64_t>(value) & double_exponent_bits) != double_exponent_bits;
}

[[nodiscard]] constexpr bool is_infinite(const float& value) noexcept {
  return std::bit_cast<std::uint32_t>(value) << 1U == float_exponent_bits << 1U;
}
[[nodiscard]] constexpr bool is_infinite(const double& value) noexcept {
  return std::bit_cast<std::uint64_t>(value) << 1U == double_exponent_bits << 1U;
}

[[nodiscard]] constexpr bool is_nan(const float& value) noexcept { return !is_finite(value) && !is_infinite(value); }
[[nodiscard]] constexpr bool is_nan(const double& value) noexcept { return !is_finite(value) && !is_infinite(value); }

[[nodiscard]] constexpr bool is_negative(const double& value) noexcept {
  return (std::bit_cast<std::uint64_t>(value) & double_sign_bit) != 0;
}

}  // namespace cairn::inline v0_1::detail
