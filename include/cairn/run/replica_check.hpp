// SPDX-License-Identifier: MIT
// Checksums of a sample of the state, by which ranks see whether they have drifted apart.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cairn/core/checksum.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/core/piece.hpp"
#include "cairn/core/strided.hpp"

namespace cairn::inline v0_1::detail {

/// Of the leaves' bytes in order, those from a point that is a hash of the step: 1/200 of them, at least 64 KiB, or
/// all. So any sequence of steps spreads over the leaves as random points do. O(leaves).
[[nodiscard]] inline std::vector<piece> sample_pieces(std::span<const leaf> leaves, std::uint64_t step) {
  constexpr std::uint64_t parts = 200, least = std::uint64_t{64} << 10U;
  std::uint64_t total = 0;
  for (const auto& each : leaves) total += each.bytes();
  const auto bytes = std::min(std::max(total / parts, least), total);
  const auto hash = checksum(std::as_bytes(std::span(&step, 1)));
  const auto begin = total == 0 ? 0 : hash % total;
  const auto end = begin + bytes;
  std::vector<piece> pieces;
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const auto size = leaves[i].bytes();
    const std::uint64_t width = size_of(leaves[i].type);
    const auto add = [&](std::uint64_t from, std::uint64_t to) {  // bytes of the sample, counted from the first leaf on
      from = std::max(from, at);
      to = std::min(to, at + size);
      if (from >= to) return;
      const auto first = (from - at) / width, last = (to - at + width - 1) / width;
      pieces.push_back({.leaf = i, .first = first, .count = last - first});
    };
    add(begin, end);
    if (end > total) add(0, std::min(end - total, begin));  // from the beginning again
    at += size;
  }
  return pieces;
}

/// A hash of each piece.
[[nodiscard]] inline std::vector<std::uint64_t> hashes_of(std::span<const leaf> leaves, std::span<const piece> pieces) {
  std::vector<std::uint64_t> hashes;
  std::vector<std::byte> packed;
  for (const auto& each : pieces) {
    const auto& whole = leaves[each.leaf];
    const auto width = size_of(whole.type);
    std::span<const std::byte> bytes(whole.memory + each.first * width, each.count * width);
    if (!whole.contiguous()) {
      packed.resize(each.count * width);
      gather(whole, each.first, packed);
      bytes = packed;
    }
    hashes.push_back(checksum(bytes));
  }
  return hashes;
}

/// Which ranks differ from most others, and where; empty if none does. Where no value is that of most, one rank with
/// each value. `samples[rank]`: the hashes of the pieces.
[[nodiscard]] inline std::string find_difference(std::span<const leaf> leaves, std::span<const piece> pieces,
                                                 std::span<const std::vector<std::uint64_t>> samples) {
  constexpr std::size_t most_paths = 4, most_ranks = 8;
  std::string text;
  std::size_t paths = 0, last_leaf = leaves.size();  // adjacent pieces may belong to one leaf, which is named once
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    std::map<std::uint64_t, std::size_t> ranks_with;  // by hash
    for (const auto& sample : samples) ++ranks_with[i < sample.size() ? sample[i] : 0];
    if (ranks_with.size() < 2 || std::exchange(last_leaf, pieces[i].leaf) == pieces[i].leaf) continue;
    if (paths++ == most_paths) return text + ", and more";
    const auto common = std::max_element(ranks_with.begin(), ranks_with.end(),
                                         [](const auto& a, const auto& b) { return a.second < b.second; });
    const bool has_most = 2 * common->second > samples.size();
    text += (text.empty() ? "" : "; ") + leaves[pieces[i].leaf].path +
            (has_most ? " differs at rank" : " differs between ranks");
    std::size_t listed = 0;
    std::set<std::uint64_t> said;  // where no value is that of most
    for (std::size_t rank = 0; rank < samples.size(); ++rank) {
      const auto hash = i < samples[rank].size() ? samples[rank][i] : 0;
      if (has_most ? hash != common->first : said.insert(hash).second)
        if (listed++ < most_ranks) text += " " + std::to_string(rank);
    }
    if (listed > most_ranks) text += " and " + std::to_string(listed - most_ranks) + " more";
  }
  return text;
}

}  // namespace cairn::inline v0_1::detail
