// SPDX-License-Identifier: MIT
// Neighbouring leaves that are columns of the same records. Their elements lie between one another in memory, so they
// are cut at the same record, and copied together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cairn/core/leaf.hpp"

namespace cairn::inline v0_1::detail {

/// Columns of an array of records: leaves from `first` on. Each has as many elements in one record as in any other.
struct record_columns {
  std::size_t first = 0;
  std::size_t count = 0;      ///< of leaves
  std::uint64_t records = 0;  ///< more than 0

  friend bool operator==(const record_columns&, const record_columns&) = default;
};

/// Records of more bytes are not kept whole: shares would be uneven, and hardly two of their fields share a cache line.
inline constexpr std::uint64_t most_record_bytes = 4096;

/// The columns of all arrays of records that have several, ascending. For `std::vector<std::array<point, 3>>` a record
/// is a point. A function of types and sizes alone: it is the same at all ranks. O(leaves).
[[nodiscard]] inline std::vector<record_columns> columns_of(std::span<const leaf> leaves) {
  std::vector<record_columns> all;
  std::size_t dimensions = 0;  // of the last ones in the list: those that all of them have in common
  std::uint64_t bytes = 0;
  for (std::size_t i = 1; i < leaves.size(); ++i) {
    const auto& each = leaves[i];
    if (each.common_dimensions == 0) continue;
    const bool is_more = !all.empty() && all.back().first + all.back().count == i;
    const auto common = is_more ? std::min(dimensions, each.common_dimensions) : each.common_dimensions;
    const auto total = each.bytes() + (is_more ? bytes : leaves[i - 1].bytes());
    std::uint64_t records = 1;
    for (std::size_t d = 0; d < common; ++d) records *= each.shape[d];
    if (records == 0 || total > records * most_record_bytes) continue;
    if (!is_more) all.push_back({.first = i - 1, .count = 1});
    ++all.back().count;
    all.back().records = records;
    dimensions = common;
    bytes = total;
  }
  return all;
}

}  // namespace cairn::inline v0_1::detail
