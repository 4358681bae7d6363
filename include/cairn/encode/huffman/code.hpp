// SPDX-License-Identifier: MIT
// Huffman codes of at most 12 bits: code lengths from counts of bytes, canonical codes, and the stored form of lengths.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "cairn/encode/code_tables.hpp"
#include "cairn/encode/huffman/depths.hpp"

namespace cairn::inline v0_1::detail::huffman {

/// The longest code: four of them fit into a 64-bit word in which up to 7 bits are used.
inline constexpr unsigned max_code_bits = 12;

/// The room that `write_code_lengths` needs.
inline constexpr std::size_t code_lengths_bound = 130;

/// The lowest `bits` bits in reverse order.
constexpr std::uint16_t reversed(std::uint32_t code, unsigned bits) noexcept {
  code = (code & 0x5555U) << 1 | (code >> 1 & 0x5555U);
  code = (code & 0x3333U) << 2 | (code >> 2 & 0x3333U);
  code = (code & 0x0F0FU) << 4 | (code >> 4 & 0x0F0FU);
  code = (code & 0x00FFU) << 8 | (code >> 8 & 0x00FFU);
  return static_cast<std::uint16_t>(code >> (16 - bits));
}

// The least number of equal lengths that are written as a short run and as a long run.
inline constexpr std::size_t short_run = 3, long_run = short_run + 16;

/// Code lengths that need the least bits for bytes with these counts, if no such length is above `max_bits`; else lengths close to
/// the best ones of at most `max_bits` (raised to what the number of symbols needs, at most 12). Of equally frequent symbols the
/// greater ones have the shorter codes. A single symbol gets one bit. The sum of all counts is below 2^64.
[[nodiscard]] inline code_lengths find_code_lengths(const byte_counts& counts,
                                                    unsigned max_bits = max_code_bits) noexcept {
  const auto sorted = sort_by_count(counts);
  code_lengths lengths{};
  if (sorted.size == 1) lengths[sorted.symbols[0]] = 1;
  if (sorted.size < 2) return lengths;
  auto memory = sorted.counts;
  const std::span depths(memory.data(), sorted.size);
  find_depths(depths);
  const auto least = static_cast<unsigned>(std::bit_width(sorted.size - 1));
  limit_depths(depths, sorted.counts, std::clamp(max_bits, least, max_code_bits));
  for (std::size_t i = 0; i < sorted.size; ++i) lengths[sorted.symbols[i]] = static_cast<std::uint8_t>(depths[i]);
  return lengths;
}

/// Whether the code can be decoded: every sequence of bits is a sequence of codes, and no code is longer than 12 bits. A single
/// symbol of one bit counts as complete too.
[[nodiscard]] inline bool is_complete(const code_lengths& lengths) noexcept {
  std::uint32_t sum = 0, longest = 0, symbols = 0;
  for (const std::uint32_t length : lengths) {
    const std::uint32_t is_used = length != 0;  // g++ 14.2 miscompiles `sum += length != 0 ? ... : 0` with AVX-512
    longest = std::max(longest, length);
    symbols += is_used;
    sum += is_used << max_code_bits >> (length & 31);
  }
  return longest <= max_code_bits && (sum == 1U << max_code_bits || (symbols == 1 && longest == 1));
}

/// Bits of the coded bytes; the largest number when a byte that occurs has no code.
[[nodiscard]] inline std::uint64_t coded_bits(const byte_counts& counts, const code_lengths& lengths) noexcept {
  std::uint64_t bits = 0;
  bool coded = true;
  for (std::size_t s = 0; s < counts.size(); ++s) {
    bits += counts[s] * lengths[s];
    coded &= counts[s] == 0 || lengths[s] != 0;
  }
  return coded ? bits : std::numeric_limits<std::uint64_t>::max();
}

/// The canonical code of every symbol, its first bit lowest, as streams have it: codes ascend with their length, then with the
/// symbol. No length is above 12.
[[nodiscard]] inline std::array<std::uint16_t, 256> canonical_codes(const code_lengths& lengths) noexcept {
  std::array<std::uint32_t, 16> next{}, symbols{};
  for (const auto length : lengths) ++symbols[length & 15];
  symbols[0] = 0;
  for (std::size_t bits = 1; bits <= max_code_bits; ++bits) next[bits] = (next[bits - 1] + symbols[bits - 1]) << 1;
  std::array<std::uint16_t, 256> codes{};
  for (std::size_t s = 0; s < lengths.size(); ++s)
    if (lengths[s] != 0) codes[s] = reversed(next[lengths[s] & 15]++, lengths[s] & 15);
  return codes;
}

/// Writes the lengths of a complete code, and returns the bytes used. Layout: u8 first and u8 last symbol that has a code; then
/// half bytes, the lower half of a byte first, for the lengths of the symbols between them:
///   0 to 12   a length
///   13 r      the length before, r + 3 times more
///   14 r      r + 3 times 0
///   15 r q    r + 16 q + 19 times 0
[[nodiscard]] inline std::size_t write_code_lengths(const code_lengths& lengths, std::span<std::byte> out) noexcept {
  std::size_t first = 0, last = lengths.size() - 1;
  while (first < last && lengths[first] == 0) ++first;
  while (last > first && lengths[last] == 0) --last;
  out[0] = static_cast<std::byte>(first);
  out[1] = static_cast<std::byte>(last);
  std::size_t halves = 4;
  const auto put = [&](std::size_t half) {
    const std::byte below = halves % 2 == 0 ? std::byte{} : out[halves / 2];
    out[halves / 2] = below | static_cast<std::byte>(halves % 2 == 0 ? half : half << 4);
    ++halves;
  };
  for (std::size_t s = first; s <= last;) {
    std::size_t run = 1;
    while (s + run <= last && lengths[s + run] == lengths[s]) ++run;
    const bool zero = lengths[s] == 0;
    const bool again = s > first && lengths[s] == lengths[s - 1];
    if (zero && run >= long_run) {
      run = std::min(run, long_run + 255);
      put(15);
      put((run - long_run) % 16);
      put((run - long_run) / 16);
    } else if (run >= short_run && (zero || again)) {
      run = std::min(run, short_run + 15);
      put(zero ? 14 : 13);
      put(run - short_run);
    } else {
      run = 1;
      put(lengths[s]);
    }
    s += run;
  }
  return (halves + 1) / 2;
}

/// The reverse, from the beginning of `in`. Returns the bytes used; 0 when they are malformed or the code is not complete, and
/// `lengths` are then undefined.
[[nodiscard]] inline std::size_t read_code_lengths(std::span<const std::byte> in, code_lengths& lengths) noexcept {
  lengths.fill(0);
  if (in.size() < 2) return 0;
  const auto first = std::to_integer<std::size_t>(in[0]), end = std::to_integer<std::size_t>(in[1]) + 1;
  std::size_t halves = 4;
  bool good = true;
  const auto take = [&]() -> std::size_t {
    good = good && halves / 2 < in.size();
    const std::size_t both = good ? std::to_integer<std::size_t>(in[halves / 2]) : 0;
    return halves++ % 2 == 0 ? both & 15 : both >> 4;
  };
  std::uint8_t before = 0;
  for (std::size_t s = first; good && s < end;) {
    const std::size_t half = take();
    if (half <= max_code_bits) {
      lengths[s++] = before = static_cast<std::uint8_t>(half);
      continue;
    }
    std::size_t run = half == 15 ? long_run : short_run;
    run += take();
    if (half == 15) run += take() * 16;
    if (half != 13) before = 0;
    good = good && run <= end - s;
    for (; good && run > 0; --run) lengths[s++] = before;
  }
  if (halves % 2 != 0) good = take() == 0 && good;
  return good && is_complete(lengths) ? halves / 2 : 0;
}

}  // namespace cairn::inline v0_1::detail::huffman
