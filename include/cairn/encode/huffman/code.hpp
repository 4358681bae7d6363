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
#include <utility>

#include "cairn/encode/code_tables.hpp"

namespace cairn::inline v0_1::detail::huffman {

/// How often each byte value occurs.
using byte_counts = std::array<std::uint64_t, 256>;

/// The byte values that occur, by ascending count, then by value.
struct sorted_symbols {
  std::size_t size = 0;
  std::array<std::uint8_t, 256> symbols;
  std::array<std::uint64_t, 256> counts;
};

/// Radix sort: no branches to mispredict. Skips digits that are 0 in all counts.
inline sorted_symbols sort_by_count(const byte_counts& counts) noexcept {
  sorted_symbols sorted, other;
  std::uint64_t digits = 0;
  for (std::size_t s = 0; s < counts.size(); ++s) {
    if (counts[s] == 0) continue;
    sorted.symbols[sorted.size] = static_cast<std::uint8_t>(s);
    sorted.counts[sorted.size++] = counts[s];
    digits |= counts[s];
  }
  other.size = sorted.size;
  for (unsigned shift = 0; shift < 64 && digits >> shift != 0; shift += 8) {
    std::array<std::uint16_t, 257> begins{};
    for (std::size_t i = 0; i < sorted.size; ++i) ++begins[(sorted.counts[i] >> shift & 255) + 1];
    for (std::size_t d = 1; d < 256; ++d) begins[d] = static_cast<std::uint16_t>(begins[d] + begins[d - 1]);
    for (std::size_t i = 0; i < sorted.size; ++i) {
      const std::size_t to = begins[sorted.counts[i] >> shift & 255]++;
      other.symbols[to] = sorted.symbols[i];
      other.counts[to] = sorted.counts[i];
    }
    std::swap(sorted, other);
  }
  return sorted;
}

/// Replaces at least two ascending weights by the leaf depths of a Huffman tree: of all optimal trees, the one of least
/// height. Source: Moffat and Katajainen, In-Place Calculation of Minimum-Redundancy Codes, WADS 1995.
inline void find_depths(std::span<std::uint64_t> a) noexcept {
  const std::size_t n = a.size();
  // Weights of leaves -> parents of all inner nodes but the root.
  a[0] += a[1];
  std::size_t root = 0, leaf = 2;
  const auto take_lighter = [&](std::size_t next) {
    if (leaf == n || (root < next && a[root] < a[leaf])) {
      const std::uint64_t weight = a[root];
      a[root++] = next;
      return weight;
    }
    return a[leaf++];
  };
  for (std::size_t next = 1; next + 1 < n; ++next) {
    const std::uint64_t first = take_lighter(next);
    a[next] = first + take_lighter(next);
  }
  // Parents -> depths of the inner nodes.
  a[n - 2] = 0;
  for (std::size_t next = n - 2; next-- > 0;) a[next] = a[a[next]] + 1;
  // Depths of the inner nodes -> depths of the leaves, which take the nodes of a level that are not inner ones.
  std::size_t inner = n - 1, free = n, room = 1;
  for (std::uint64_t depth = 0; room > 0; ++depth) {
    std::size_t used = 0;
    while (inner > 0 && a[inner - 1] == depth) --inner, ++used;
    for (; room > used; --room) a[--free] = depth;
    room = 2 * used;
  }
}

/// Limits depths to `limit` (at least what the number of symbols needs, at most 16) and restores Kraft's sum to 1.
/// Symbols have ascending weights and descending depths. Greedy, each step at the least cost per unit of the sum: first
/// the rarest symbols of a depth move down until the sum is at most 1, then the most frequent ones move up until it is
/// 1. The second loop always ends at 1, because what is left is a multiple of what moving the deepest symbol takes.
inline void limit_depths(std::span<std::uint64_t> depths, std::span<const std::uint64_t> weights,
                         unsigned limit) noexcept {
  if (depths[0] <= limit) return;
  // Symbols of depth d are those from begins[d] to begins[d - 1].
  std::array<std::size_t, 17> begins{};
  for (auto& depth : depths) ++begins[(depth = std::min<std::uint64_t>(depth, limit)) - 1];
  for (unsigned d = limit; d-- > 0;) begins[d] += begins[d + 1];
  const std::uint64_t whole = std::uint64_t{1} << limit;
  std::uint64_t sum = 0;
  for (const auto depth : depths) sum += whole >> depth;
  while (sum > whole) {
    unsigned best = 0;
    std::uint64_t best_gain = 0;
    for (unsigned d = 1; d < limit; ++d) {
      if (begins[d] == begins[d - 1]) continue;
      const std::uint64_t gain = std::min(whole >> (d + 1), sum - whole);
      if (best == 0 || weights[begins[d]] * best_gain < weights[begins[best]] * gain) best = d, best_gain = gain;
    }
    sum -= whole >> (best + 1);
    ++begins[best];
  }
  while (sum < whole) {
    unsigned best = 0;
    for (unsigned d = 2; d <= limit; ++d) {
      if (begins[d] == begins[d - 1] || whole >> d > whole - sum) continue;
      if (best == 0 || weights[begins[d - 1] - 1] << (d - best) > weights[begins[best - 1] - 1]) best = d;
    }
    sum += whole >> best;
    --begins[best - 1];
  }
  for (unsigned d = 1; d <= limit; ++d)
    for (std::size_t i = begins[d]; i < begins[d - 1]; ++i) depths[i] = d;
}

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

/// Code lengths that need the least bits for bytes with these counts, if no such length is above `max_bits`; else
/// lengths close to the best ones of at most `max_bits` (raised to what the number of symbols needs, at most 12). Of
/// equally frequent symbols the greater ones have the shorter codes. A single symbol gets one bit. The sum of all
/// counts is below 2^64.
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

/// Whether the code can be decoded: every sequence of bits is a sequence of codes, and no code is longer than 12 bits.
/// A single symbol of one bit counts as complete too.
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

/// The canonical code of every symbol, its first bit lowest, as streams have it: codes ascend with their length, then
/// with the symbol. No length is above 12.
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

/// Writes the lengths of a complete code, and returns the bytes used. Layout: u8 first and u8 last symbol that has a
/// code; then half bytes, the lower half of a byte first, for the lengths of the symbols between them:
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

/// The reverse, from the beginning of `in`. Returns the bytes used; 0 when they are malformed or the code is not
/// complete, and `lengths` are then undefined.
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
