// SPDX-License-Identifier: MIT
// The plan of a save by ranks with the same state: sizes of leaves, loads of ranks -> the pieces that each rank writes.
//
// A pure function in whole numbers: the same on every rank, whatever its machine. Terms:
// - share of a rank: the bytes that it should write.
// - item: a leaf, or all columns of an array of records (record_columns.hpp), cut at one record, dealt together.
// - axis: the items in order, without the small ones, as a line of bytes that is cut into one interval per rank. The
//   leaves of a struct or container are neighbours in the order of paths, so this divides the tree of the state in
//   proportion to the sizes of its branches.
// - minimum piece: 1/256 of the mean share, 4 KiB to 1 MiB. No part of an item is made smaller by a cut within it,
//   where the shares are not smaller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cairn/core/error.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/core/piece.hpp"
#include "cairn/plan/record_columns.hpp"

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
  /// `columns`: ascending. errc::invalid: not of these leaves, or a leaf without a whole number of elements per record.
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

/// What the plan knows of a rank. The total of its bytes is to be in proportion to its weight.
struct rank_load {
  std::uint64_t weight = 1;  ///< 0: writes nothing of these leaves
  std::uint64_t other = 0;   ///< bytes that it writes besides, such as per-rank state
};

/// 128-bit XXH3 of all inputs of a plan.
struct input_hash {
  std::uint64_t high = 0, low = 0;

  friend bool operator==(const input_hash&, const input_hash&) = default;
};

/// A division of all leaves between ranks: every element is in one piece of one rank. The pieces of a cut leaf belong
/// to ascending ranks. The bytes of a rank differ from its share by at most 2 (m + s / 1024), where m is the minimum
/// piece and s the mean share, and by two elements or records: below 1 % from shares of 1 MiB on, of leaves that can be
/// cut. An item of no bytes is not cut, and a leaf of no elements is one piece.
class partition {
 public:
  /// The same arguments at every rank. `columns`: ascending, those of cairn::detail::columns_of. O(leaves + ranks) time
  /// and memory. errc::invalid: no rank has a weight, more ranks than there can be shards, bytes without elements,
  /// columns of no whole number of elements per record; the weights, or all bytes together, exceed 2^63.
  partition(std::vector<leaf_size> leaves, std::vector<rank_load> ranks,
            std::vector<cairn::detail::record_columns> columns = {});

  [[nodiscard]] std::size_t ranks() const noexcept { return ranks_.size(); }
  /// Bytes for a rank below ranks(), before cuts are moved. Ranks whose other bytes exceed their part of all bytes
  /// get 0; the shares of the others are smaller then.
  [[nodiscard]] std::uint64_t share_of(std::size_t rank) const { return ends_[rank + 1] - ends_[rank]; }
  /// Ascending by leaf. O(leaves from the first to the last in its interval, and from its first to its last small one).
  /// errc::invalid if there is no such rank.
  [[nodiscard]] std::vector<cairn::detail::piece> pieces_of(std::size_t rank) const;
  /// Those of all ranks. O(leaves + ranks).
  [[nodiscard]] cairn::detail::division pieces() const;
  /// Bytes of a piece, if each element of a leaf has as many.
  [[nodiscard]] std::uint64_t bytes_of(const cairn::detail::piece& which) const;
  /// Equal hashes: equal plans. O(leaves + ranks).
  [[nodiscard]] input_hash hash() const;

 private:
  /// Where the interval of a rank begins on the axis, and at which leaf its small items begin.
  struct start {
    std::size_t leaf = 0;  // the first one of an item
    std::uint64_t element = 0;
    std::size_t dealt = 0;
  };

  [[nodiscard]] bool is_small(const detail::item& each) const noexcept { return each.bytes < small_below_; }
  void divide_bytes(std::uint64_t bytes);
  void find_small(std::uint64_t bytes);
  std::vector<std::size_t> cut(std::span<const std::uint64_t> ends);
  std::vector<std::uint64_t> deal(const std::vector<std::size_t>& pieces);
  [[nodiscard]] std::uint64_t element_at(const detail::item& each, std::uint64_t byte) const;

  detail::item_list items_;
  std::vector<rank_load> ranks_;
  std::vector<bool> is_active_;                       // ranks that get leaves
  std::vector<std::uint64_t> ends_;                   // of the shares, one after another, from 0 on
  std::vector<start> starts_;                         // of the ranks, and the end of the last one
  std::uint64_t minimum_piece_ = 0, near_a_row_ = 0;  // bytes
  std::uint64_t small_below_ = 0;                     // bytes; 0: no item is small
};

}  // namespace cairn::inline v0_1::plan
