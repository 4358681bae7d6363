// SPDX-License-Identifier: MIT
// Estimates the coded bits of a sample of bytes; in integers, so that every machine decides alike.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "cairn/encode/huffman/code.hpp"

namespace cairn::inline v0_1::detail::lossless {

/// Fractional bits of the numbers here.
inline constexpr unsigned fraction_bits = 16;

/// log2(x) for 0 < x < 2^32, off by less than 0.01.
[[nodiscard]] constexpr std::uint64_t log2_fixed(std::uint64_t x) noexcept {
  const auto whole = static_cast<unsigned>(std::bit_width(x)) - 1;
  const std::uint64_t one = std::uint64_t{1} << fraction_bits;
  const std::uint64_t rest = (x << fraction_bits >> whole) - one;
  constexpr std::uint64_t bulge = 22700;  // of log2(1 + f) over f: 0.346 f (1 - f)
  const std::uint64_t more = (rest * (one - rest) >> fraction_bits) * bulge >> fraction_bits;
  return (std::uint64_t{whole} << fraction_bits) + rest + more;
}

/// Average coded bits of one of `total` < 2^31 bytes with these counts, in fixed point: their entropy, with Miller and Madow's
/// correction for small samples, but at least one bit where bytes differ, as Huffman codes have whole bits.
[[nodiscard]] inline std::uint64_t bits_per_byte(const huffman::byte_counts& counts, std::uint64_t total) noexcept {
  std::uint64_t logs = 0, symbols = 0;
  for (const auto count : counts) {
    if (count == 0) continue;
    logs += count * log2_fixed(count);
    ++symbols;
  }
  if (symbols < 2) return 0;
  constexpr std::uint64_t half_per_ln2 = 47274;  // 1 / (2 ln 2)
  const std::uint64_t entropy = log2_fixed(total) - std::min(logs / total, log2_fixed(total));
  return std::clamp<std::uint64_t>(entropy + (symbols - 1) * half_per_ln2 / total, std::uint64_t{1} << fraction_bits,
                                   std::uint64_t{8} << fraction_bits);
}

}  // namespace cairn::inline v0_1::detail::lossless
