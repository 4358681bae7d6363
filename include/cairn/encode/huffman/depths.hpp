// SPDX-License-Identifier: MIT
// Counts of symbols -> leaf depths of a Huffman tree of limited depth.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

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

/// Replaces at least two ascending weights by the leaf depths of a Huffman tree: of all optimal trees, the one of least height.
/// Source: Moffat and Katajainen, In-Place Calculation of Minimum-Redundancy Codes, WADS 1995.
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

/// Limits depths to `limit` (at least what the number of symbols needs, at most 16) and restores Kraft's sum to 1. Symbols have
/// ascending weights and descending depths. Greedy, each step at the least cost per unit of the sum: first the rarest symbols of a
/// depth move down until the sum is at most 1, then the most frequent ones move up until it is 1. The second loop always ends at 1,
/// because what is left is a multiple of what moving the deepest symbol takes.
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

}  // namespace cairn::inline v0_1::detail::huffman
