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
  std::uint32_t result = top;
  if (magnitude < 0x7f80'0000U) {
    const bool normal = magnitude >> 23 != 0;
    std::uint32_t mantissa = (magnitude & 0x7f'ffffU) | (normal ? 0x80'0000U : 0U);
    int shift = 23 - Mantissa;
    int biased = (normal ? static_cast<int>(magnitude >> 23) : 1) - 127 + bias;
    if (biased <= 0 || !normal) {
      shift += 1 - biased;
      biased = 0;
    } else {
      mantissa -= 0x80'0000U;  // the exponent implies the leading one
    }
    if (shift > 25) {
      result = 0;
    } else {
      const std::uint32_t half = 1U << (shift - 1);
      const std::uint32_t kept = mantissa >> shift;
      const std::uint32_t rest = mantissa & ((1U << shift) - 1);
      result = (static_cast<std::uint32_t>(biased) << Mantissa) + kept + (rest > half || (rest == half && (kept & 1U)));
      if (result > top) result = top;
    }
  }
  return static_cast<Bits>(sign | result);
}

/// The exact float of the bits.
template <class Bits, int Exponent, int Mantissa, bool Infinite>
[[nodiscard]] constexpr float widen_float(Bits stored) noexcept {
  constexpr int bias = (1 << (Exponent - 1)) - 1;
  constexpr std::uint32_t all = (1U << Exponent) - 1;
  const std::uint32_t bits = stored;
  const std::uint32_t sign = (bits >> (Exponent + Mantissa)) << 31;
  const std::uint32_t exponent = (bits >> Mantissa) & all;
  std::uint32_t mantissa = bits & ((1U << Mantissa) - 1);
  if (Infinite && exponent == all) return std::bit_cast<float>(sign | 0x7f80'0000U | mantissa << (23 - Mantissa));
  if (!Infinite && exponent == all && mantissa == (1U << Mantissa) - 1)
    return std::bit_cast<float>(sign | 0x7fc0'0000U);
  if (exponent == 0) {
    if (Exponent == 8) return std::bit_cast<float>(sign | mantissa << (23 - Mantissa));
    if (mantissa == 0) return std::bit_cast<float>(sign);
    int power = 1 - bias;
    for (; !(mantissa >> Mantissa); mantissa <<= 1) --power;
    return std::bit_cast<float>(sign | static_cast<std::uint32_t>(power + 127) << 23 |
                                (mantissa & ((1U << Mantissa) - 1)) << (23 - Mantissa));
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
