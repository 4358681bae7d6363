// SPDX-License-Identifier: MIT
// Counts of byte values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "cairn/encode/huffman/code.hpp"

namespace cairn::inline v0_1::detail::huffman {

inline void add(byte_counts& sums, const byte_counts& more) noexcept {
  for (std::size_t s = 0; s < sums.size(); ++s) sums[s] += more[s];
}

/// Counts in eight tables in turn: with one table, runs of equal bytes would wait for the previous store to the same
/// counter. A small sample is counted in one, since clearing and adding up more would take longer.
[[nodiscard]] inline byte_counts count_bytes(std::span<const std::byte> bytes) noexcept {
  constexpr std::size_t tables = 8, small = 1024, most = std::size_t{1} << 31;  // more could overflow a 32-bit counter
  byte_counts sums{};
  if (bytes.size() <= small) {
    for (const auto byte : bytes) ++sums[std::to_integer<std::size_t>(byte)];
    return sums;
  }
  while (!bytes.empty()) {
    const auto now = bytes.first(bytes.size() < most ? bytes.size() : most);
    bytes = bytes.subspan(now.size());
    std::array<std::array<std::uint32_t, 256>, tables> counts{};
    const std::byte* at = now.data();
    std::size_t words = now.size() / sizeof(std::uint64_t);
    for (; words > 0; --words, at += sizeof(std::uint64_t)) {
      std::uint64_t word;
      std::memcpy(&word, at, sizeof word);
      ++counts[0][word & 255];
      ++counts[1][word >> 8 & 255];
      ++counts[2][word >> 16 & 255];
      ++counts[3][word >> 24 & 255];
      ++counts[4][word >> 32 & 255];
      ++counts[5][word >> 40 & 255];
      ++counts[6][word >> 48 & 255];
      ++counts[7][word >> 56];
    }
    for (; at != now.data() + now.size(); ++at) ++counts[0][std::to_integer<std::size_t>(*at)];
    for (std::size_t s = 0; s < sums.size(); ++s)
      for (const auto& table : counts) sums[s] += table[s];
  }
  return sums;
}

}  // namespace cairn::inline v0_1::detail::huffman
