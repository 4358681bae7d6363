// SPDX-License-Identifier: MIT
// The items of a plan: what it cuts and deals as one. An item is a leaf, or all columns of an array of records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cairn/core/error.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/core/record_columns.hpp"

namespace cairn::inline v0_1::plan {

/// What a plan knows of a leaf.
struct leaf_size {
  std::uint64_t elements = 0;
  std::uint64_t bytes = 0;  ///< that will be written: those of the save before, or of the values as they are
  std::uint64_t row = 1;    ///< elements of a row, which readers prefer whole; 0 or 1: no rows
};

/// The leaves with their bytes in memory, and rows along the slowest dimension of more than one. O(leaves).
[[nodiscard]] std::vector<leaf_size> sizes_of(std::span<const cairn::detail::leaf> leaves);

namespace detail {

/// `count` leaves from number `leaf` on. The elements of several are records.
struct item : leaf_size {
  std::size_t leaf = 0;
  std::size_t count = 1;
};

class item_list {
 public:
  /// `columns`: ascending. errc::invalid: they are not of these leaves, or a leaf has no whole number of elements per record.
  item_list(std::vector<leaf_size> leaves, std::vector<cairn::detail::record_columns> columns);

  [[nodiscard]] const std::vector<leaf_size>& leaves() const noexcept { return leaves_; }
  [[nodiscard]] const std::vector<cairn::detail::record_columns>& columns() const noexcept { return columns_; }

  /// The number of leaves of the item that begins at this one.
  [[nodiscard]] std::size_t leaves_at(std::size_t leaf) const {
    const auto* const at = columns_from(leaf);
    return at != columns_end() && at->first == leaf ? at->count : 1;
  }

  /// Calls `act(item)` for those that begin at the leaves [first, end), in order. One begins at `first`.
  template <class Act>
  void for_each(std::size_t first, std::size_t end, const Act& act) const {
    const auto* next = columns_from(first);
    for (auto i = first; i < end;) {
      const bool is_leaf = next == columns_end() || next->first != i;
      const auto made = is_leaf ? item{leaves_[i], i} : item_of(*next);
      act(made);
      i += made.count;
      if (!is_leaf) ++next;
    }
  }
  template <class Act>
  void for_each(const Act& act) const {
    for_each(0, leaves_.size(), act);
  }

 private:
  /// The first columns that begin at the leaf or after it.
  [[nodiscard]] const cairn::detail::record_columns* columns_from(std::size_t leaf) const;
  [[nodiscard]] const cairn::detail::record_columns* columns_end() const noexcept {
    return columns_.data() + columns_.size();
  }
  [[nodiscard]] item item_of(const cairn::detail::record_columns& columns) const;

  std::vector<leaf_size> leaves_;
  std::vector<cairn::detail::record_columns> columns_;
};

}  // namespace detail
}  // namespace cairn::inline v0_1::plan
