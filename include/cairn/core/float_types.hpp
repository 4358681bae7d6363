// SPDX-License-Identifier: MIT
// Storage types for 2-byte and 1-byte floating point, converted to and from float with round-to-nearest-even.
#pragma once

#include <bit>
#include <cstdint>

#include "cairn/core/config.hpp"

namespace cairn::inline v0_1 {

namespace detail {

/// The bits of an IEEE-like format with `Exponent` and `Mantissa` bits, nearest to `value`, ties to even.
/// `Infinite`: the format has infinities; else values beyond the largest become NaN (as in E4M3FN).
template <class Bits, int Exponent, int Mantissa, bool Infinite>
[[nodiscard]] constexpr Bits narrow_float(float value) noexcept {
  constexpr int bias = (1 << (Exponent - 1)) - 1;
  constexpr std::uint32_t top = Infinite ? ((1U << Exponent) - 1) << Mantissa : (1U << (Exponent + Mantissa)) - 1;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 31) << (Exponent + Mantissa);
  const std::uint32_t magnitude = bits & 0x7fff'ffffU;
  if (magnitude > 0x7f80'0000U)  // NaN, quiet
    return static_cast<Bits>(sign | (Infinite ? top | 1U << (Mantissa - 1) : top));
  const bool is_normal = magnitude >= 0x80'0000U;
  const std::uint32_t mantissa = is_normal ? (magnitude & 0x7f'ffffU) | 0x80'0000U : magnitude;
  const int exponent = (is_normal ? static_cast<int>(magnitude >> 23) : 1) - 127 + bias;
  const int denormal = exponent < 1 ? 1 - exponent : 0;  // bits that the result has fewer
  const int shift = 23 - Mantissa + denormal < 25 ? 23 - Mantissa + denormal : 25;
  const std::uint32_t half = 1U << (shift - 1);
  const std::uint32_t kept = mantissa >> shift;  // its leading one, if it is there, adds 1 to the exponent
  const std::uint32_t rest = mantissa & ((1U << shift) - 1);
  const std::uint32_t rounded = kept + (rest > half || (rest == half && (kept & 1U)));
  const std::uint32_t result = (static_cast<std::uint32_t>(exponent - 1 + denormal) << Mantissa) + rounded;
  return static_cast<Bits>(sign | (result < top ? result : top));
}

/// The exact float of the bits.
template <class Bits, int Exponent, int Mantissa, bool Infinite>
[[nodiscard]] constexpr float widen_float(Bits stored) noexcept {
  constexpr int bias = (1 << (Exponent - 1)) - 1;
  constexpr std::uint32_t all = (1U << Exponent) - 1;
  const std::uint32_t bits = stored;
  const std::uint32_t sign = (bits >> (Exponent + Mantissa)) << 31;
  const std::uint32_t exponent = (bits >> Mantissa) & all;
  const std::uint32_t mantissa = bits & ((1U << Mantissa) - 1);
  if (Infinite && exponent == all) return std::bit_cast<float>(sign | 0x7f80'0000U | mantissa << (23 - Mantissa));
  if (!Infinite && exponent == all && mantissa == (1U << Mantissa) - 1)
    return std::bit_cast<float>(sign | 0x7fc0'0000U);
  if (exponent == 0 && bias < 127) {  // zero, or a denormal, which is a normal float
    constexpr auto smallest = std::bit_cast<float>(static_cast<std::uint32_t>(128 - bias - Mantissa) << 23);
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(static_cast<float>(mantissa) * smallest));
  }
  return std::bit_cast<float>(sign | (exponent + 127U - static_cast<std::uint32_t>(bias)) << 23 |
                              mantissa << (23 - Mantissa));
}

template <class Bits, int Exponent, int Mantissa, bool Infinite>
struct small_float {
  Bits bits = 0;

  small_float() = default;
  explicit constexpr small_float(float value) noexcept
      : bits(narrow_float<Bits, Exponent, Mantissa, Infinite>(value)) {}
  explicit constexpr operator float() const noexcept { return widen_float<Bits, Exponent, Mantissa, Infinite>(bits); }

  [[nodiscard]] static constexpr small_float from_bits(Bits bits) noexcept {
    small_float value;
    value.bits = bits;
    return value;
  }

  /// Bitwise: NaN equals itself, +0 differs from -0.
  friend constexpr bool operator==(small_float, small_float) = default;
};

}  // namespace detail

/// IEEE binary16.
using float16 = detail::small_float<std::uint16_t, 5, 10, true>;
/// The upper half of a float.
using bfloat16 = detail::small_float<std::uint16_t, 8, 7, true>;
/// OCP 8-bit, 4 exponent bits, no infinities (E4M3FN): largest value 448, one NaN per sign.
using float8_e4m3 = detail::small_float<std::uint8_t, 4, 3, false>;
/// OCP 8-bit, 5 exponent bits, with infinities.
using float8_e5m2 = detail::small_float<std::uint8_t, 5, 2, true>;

static_assert(sizeof(float16) == 2 && sizeof(bfloat16) == 2 && sizeof(float8_e4m3) == 1 && sizeof(float8_e5m2) == 1);

}  // namespace cairn::inline v0_1
