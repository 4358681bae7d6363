// SPDX-License-Identifier: MIT
// Definitions of plan/partition.hpp: the leaves and their items.
#pragma once

#include <algorithm>
#include <utility>

#include "cairn/plan/partition.hpp"

namespace cairn::inline v0_1::plan {

std::vector<leaf_size> sizes_of(std::span<const cairn::detail::leaf> leaves) {
  std::vector<leaf_size> sizes;
  sizes.reserve(leaves.size());
  for (const auto& leaf : leaves) {
    const auto elements = leaf.count();
    const auto rows = std::find_if(leaf.shape.begin(), leaf.shape.end(), [](auto extent) { return extent > 1; });
    sizes.push_back({elements, leaf.bytes(), elements == 0 || rows == leaf.shape.end() ? 1 : elements / *rows});
  }
  return sizes;
}

namespace detail {

item_list::item_list(std::vector<leaf_size> leaves, std::vector<cairn::detail::record_columns> columns)
    : leaves_(std::move(leaves)), columns_(std::move(columns)) {
  std::size_t end = 0;
  for (const auto& [first, count, records] : columns_) {
    if (first < end || first > leaves_.size() || count > leaves_.size() - first || count < 2 || records == 0)
      fail(errc::invalid, {"a plan of ", leaves_.size(), " leaves cannot have ", count, " columns of ", records,
                           " records from leaf ", first, " on"});
    end = first + count;
    for (auto i = first; i < end; ++i)
      if (leaves_[i].elements % records != 0)
        fail(errc::invalid, {"a column of ", records, " records has ", leaves_[i].elements, " elements"});
  }
}

const cairn::detail::record_columns* item_list::columns_from(std::size_t leaf) const {
  return std::partition_point(columns_.data(), columns_end(), [&](const auto& each) { return each.first < leaf; });
}

/// Its rows are those of the first column.
item item_list::item_of(const cairn::detail::record_columns& columns) const {
  const auto& first = leaves_[columns.first];
  const auto per_record = first.elements / columns.records;
  const auto row = per_record > 0 && first.row % per_record == 0 ? first.row / per_record : 1;
  item made{{columns.records, 0, row}, columns.first, columns.count};
  for (auto i = made.leaf; i < made.leaf + made.count; ++i) made.bytes += leaves_[i].bytes;
  return made;
}

}  // namespace detail
}  // namespace cairn::inline v0_1::plan
