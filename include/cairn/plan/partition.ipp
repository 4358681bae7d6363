// SPDX-License-Identifier: MIT
// Definitions of plan/partition.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "cairn/core/checksum.hpp"
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

__extension__ typedef unsigned __int128 uint128;

/// value * part / whole, rounded down. It fits where part <= whole.
[[nodiscard]] inline std::uint64_t scaled(std::uint64_t value, std::uint64_t part, std::uint64_t whole) {
  return static_cast<std::uint64_t>(static_cast<uint128>(value) * part / whole);
}

/// The same, rounded to the nearest number.
[[nodiscard]] inline std::uint64_t nearest(std::uint64_t value, std::uint64_t part, std::uint64_t whole) {
  return static_cast<std::uint64_t>((static_cast<uint128>(value) * part + whole / 2) / whole);
}

/// total += more. errc::invalid beyond 2^63.
inline void add(std::uint64_t& total, std::uint64_t more, const char* what) {
  constexpr std::uint64_t most = std::uint64_t{1} << 63U;
  if (more > most - total) fail(errc::invalid, {what, " of a plan are more than 2^63"});
  total += more;
}

/// How many pieces of small items each active rank gets, to level out the numbers of pieces: ranks with fewest first.
[[nodiscard]] inline std::vector<std::size_t> leveled(const std::vector<std::size_t>& pieces,
                                                      const std::vector<bool>& is_active, std::size_t small) {
  std::size_t most = 0;
  for (const auto count : pieces) most = std::max(most, count);
  std::vector<std::size_t> ranks_with(most + 1);
  for (std::size_t rank = 0; rank < pieces.size(); ++rank)
    if (is_active[rank]) ++ranks_with[pieces[rank]];
  std::size_t level = 0, below = 0;  // ranks below the next level
  for (; level <= most; ++level) {
    below += ranks_with[level];
    if (small < below) break;
    small -= below;
  }
  level += small / below;
  small %= below;
  std::vector<std::size_t> result(pieces.size());
  for (std::size_t rank = 0; rank < pieces.size(); ++rank) {
    if (!is_active[rank] || pieces[rank] > level) continue;
    result[rank] = level - pieces[rank];
    if (small > 0) ++result[rank], --small;
  }
  return result;
}

}  // namespace detail

partition::partition(std::vector<leaf_size> leaves, std::vector<rank_load> ranks,
                     std::vector<cairn::detail::record_columns> columns)
    : items_(std::move(leaves), std::move(columns)), ranks_(std::move(ranks)), starts_(ranks_.size() + 1) {
  cairn::detail::check_shards(ranks_.size());
  std::uint64_t bytes = 0;
  for (const auto& leaf : items_.leaves()) {
    if (leaf.bytes > 0 && leaf.elements == 0)
      fail(errc::invalid, {"a leaf without elements has ", leaf.bytes, " bytes"});
    detail::add(bytes, leaf.bytes, "the bytes");
  }
  divide_bytes(bytes);
  // 1. Which items are small: they make the numbers of pieces even.
  find_small(bytes);
  // 2. Cut the axis in proportion to the shares, and count the pieces.
  std::uint64_t on_axis = 0;
  items_.for_each([&](const detail::item& each) { on_axis += is_small(each) ? 0 : each.bytes; });
  std::vector<std::uint64_t> ends(ranks_.size());
  for (std::size_t rank = 0; rank < ends.size(); ++rank)
    ends[rank] = bytes == 0 ? 0 : detail::scaled(on_axis, ends_[rank + 1], bytes);
  const auto pieces = cut(ends);
  // 3. Deal the small items. If a rank gets more than its share, no item is small.
  const auto loads = deal(pieces);
  for (std::size_t rank = 0; rank < ends.size(); ++rank)
    if (loads[rank] > share_of(rank)) small_below_ = 0;
  // 4. Cut again: the shares less the small items.
  std::uint64_t dealt = 0;
  for (std::size_t rank = 0; rank < ends.size(); ++rank) {
    if (small_below_ > 0) dealt += loads[rank];
    ends[rank] = ends_[rank + 1] - dealt;
  }
  cut(ends);
}

/// Each rank's share: in total `bytes`, and with other bytes in proportion to the weights, unless those are more.
void partition::divide_bytes(std::uint64_t bytes) {
  std::uint64_t total = bytes, weights = 0;  // of the active ranks
  is_active_.resize(ranks_.size());
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    is_active_[rank] = ranks_[rank].weight > 0;
    detail::add(weights, ranks_[rank].weight, "the weights");
    if (is_active_[rank]) detail::add(total, ranks_[rank].other, "the bytes");
  }
  if (weights == 0) fail(errc::invalid, {"no rank of a plan has a weight"});

  // Each pass halves the bytes beyond the shares, or the weights: there are few.
  for (bool is_settled = false; !is_settled;) {
    is_settled = true;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      const auto& load = ranks_[rank];
      if (!is_active_[rank] || load.other == 0 || load.other <= detail::scaled(total, load.weight, weights)) continue;
      is_active_[rank] = is_settled = false;
      total -= load.other;
      weights -= load.weight;
    }
  }

  ends_.assign(ranks_.size() + 1, 0);
  std::uint64_t weight = 0, other = 0;  // of the ranks so far
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (is_active_[rank]) {
      weight += ranks_[rank].weight;
      other += ranks_[rank].other;
    }
    ends_[rank + 1] = detail::scaled(total, weight, weights) - other;
  }
}

/// Sets the limits of pieces. Small are the items of the smallest classes (0, 1, 2-3, 4-7, ... bytes) below two minimum
/// pieces that have an eighth of all bytes together.
void partition::find_small(std::uint64_t bytes) {
  constexpr std::uint64_t kib = 1024, mib = kib * kib;
  const auto active = static_cast<std::uint64_t>(std::count(is_active_.begin(), is_active_.end(), true));
  const std::uint64_t share = bytes / active;
  minimum_piece_ = std::clamp(share / 256, 4 * kib, mib);
  near_a_row_ = share / 1024;
  std::array<std::uint64_t, 22> of_class{};
  static_assert(static_cast<std::size_t>(std::bit_width(2 * mib)) == of_class.size());
  items_.for_each([&](const detail::item& each) {
    const auto number = static_cast<std::size_t>(std::bit_width(each.bytes));
    if (number < of_class.size()) of_class[number] += each.bytes;
  });
  std::uint64_t together = 0;
  for (std::size_t number = 0; number < of_class.size(); ++number) {
    const auto limit = std::uint64_t{1} << number;
    together += of_class[number];
    if (limit > 2 * minimum_piece_ || together > bytes / 8) break;
    small_below_ = limit;
  }
}

/// Cuts the axis at `ends`: for each rank the byte where its interval ends, ascending. Returns how many pieces each
/// rank has on the axis, where those between two cuts at the same element count.
std::vector<std::size_t> partition::cut(std::span<const std::uint64_t> ends) {
  std::vector<std::size_t> number(starts_.size());  // of the leaf on the axis in which a rank starts
  std::size_t rank = 0, leaves = 0;
  const auto end_rank = [&](std::size_t leaf, std::uint64_t element) {
    ++rank;
    starts_[rank].leaf = leaf;
    starts_[rank].element = element;
    number[rank] = leaves;
  };
  while (rank + 1 < ends.size() && ends[rank] == 0) end_rank(0, 0);
  std::uint64_t before = 0;  // bytes
  items_.for_each([&](const detail::item& each) {
    if (is_small(each)) return;
    while (rank + 1 < ends.size() && ends[rank] < before + each.bytes) {
      const auto element = element_at(each, ends[rank] - before);
      const auto whole = element == each.elements ? each.count : 0;  // leaves of the item, if it ends there
      end_rank(each.leaf + whole, whole > 0 ? 0 : element);
      number[rank] += whole;
    }
    before += each.bytes;
    leaves += each.count;
  });
  while (rank < ends.size()) end_rank(items_.leaves().size(), 0);

  std::vector<std::size_t> pieces(ends.size());
  for (rank = 0; rank < pieces.size(); ++rank) {
    const auto& end = starts_[rank + 1];
    pieces[rank] = number[rank + 1] - number[rank] + (end.element > 0 ? items_.leaves_at(end.leaf) : 0);
  }
  return pieces;
}

/// 5. The element before which an item is cut at or near its byte: an end of the item within a minimum piece, the
///    nearest row if it is near, or the nearest element.
std::uint64_t partition::element_at(const detail::item& each, std::uint64_t byte) const {
  const auto after = each.bytes - byte;
  if (std::min(byte, after) < minimum_piece_) return byte <= after ? 0 : each.elements;
  const auto element = detail::nearest(each.elements, byte, each.bytes);
  if (each.row <= 1) return element;
  const auto below = element - element % each.row;
  const auto above = each.elements - below > each.row ? below + each.row : each.elements;
  const auto row = element - below <= above - element ? below : above;
  const auto apart = detail::scaled(each.bytes, row < element ? element - row : row - element, each.elements);
  return apart <= near_a_row_ ? row : element;
}

/// Deals the small items to ranks that have `pieces` already, in order. Returns the bytes that each rank gets.
std::vector<std::uint64_t> partition::deal(const std::vector<std::size_t>& pieces) {
  std::size_t small = 0;  // pieces
  items_.for_each([&](const detail::item& each) { small += is_small(each) ? each.count : 0; });
  const auto wanted = detail::leveled(pieces, is_active_, small);
  std::vector<std::uint64_t> loads(ranks_.size());
  std::size_t rank = 0, dealt = 0, end = wanted[0];  // pieces: so far, and of the ranks so far
  items_.for_each([&](const detail::item& each) {
    if (!is_small(each)) return;
    for (; dealt + each.count / 2 >= end; end += wanted[rank]) starts_[++rank].dealt = each.leaf;
    loads[rank] += each.bytes;
    dealt += each.count;
  });
  while (rank < ranks_.size()) starts_[++rank].dealt = items_.leaves().size();
  return loads;
}

std::vector<cairn::detail::piece> partition::pieces_of(std::size_t rank) const {
  if (rank >= ranks_.size()) fail(errc::invalid, {"a plan of ", ranks_.size(), " ranks has no rank ", rank});
  const auto &begin = starts_[rank], &end = starts_[rank + 1];
  const bool is_cut = end.element > 0 && (begin.leaf != end.leaf || begin.element != end.element);
  const auto last = is_cut ? end.leaf + items_.leaves_at(end.leaf) : end.leaf;
  std::vector<cairn::detail::piece> pieces;
  const auto add = [&](const detail::item& each) {
    const bool is_dealt = is_small(each);
    if (is_dealt ? each.leaf < begin.dealt || each.leaf >= end.dealt : each.leaf < begin.leaf || each.leaf >= last)
      return;
    const auto first = !is_dealt && each.leaf == begin.leaf ? begin.element : 0;
    const auto past = !is_dealt && each.leaf == end.leaf ? end.element : each.elements;
    for (auto i = each.leaf; i < each.leaf + each.count; ++i) {
      const auto width = each.count == 1 ? 1 : items_.leaves()[i].elements / each.elements;
      if (width > 0 || first == 0)
        pieces.push_back({.leaf = i, .first = first * width, .count = (past - first) * width});
    }
  };
  auto one = std::pair(begin.leaf, last), other = std::pair(begin.dealt, end.dealt);
  if (other < one) std::swap(one, other);
  items_.for_each(one.first, one.second, add);
  items_.for_each(std::max(one.second, other.first), other.second, add);
  return pieces;
}

cairn::detail::division partition::pieces() const {
  cairn::detail::division all;
  all.reserve(ranks_.size());
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) all.push_back(pieces_of(rank));
  return all;
}

std::uint64_t partition::bytes_of(const cairn::detail::piece& which) const {
  const auto& leaf = items_.leaves()[which.leaf];
  if (leaf.elements == 0) return 0;
  const auto before = [&](std::uint64_t element) { return detail::scaled(leaf.bytes, element, leaf.elements); };
  return before(which.first + which.count) - before(which.first);
}

input_hash partition::hash() const {
  static_assert(std::has_unique_object_representations_v<leaf_size> &&
                std::has_unique_object_representations_v<rank_load> &&
                std::has_unique_object_representations_v<cairn::detail::record_columns>);
  constexpr std::uint64_t version = 1;  // of the plan: another one has other pieces
  const std::array<std::uint64_t, 3> sizes{version, items_.leaves().size(), ranks_.size()};
  XXH3_state_t state;
  XXH3_128bits_reset(&state);
  const auto add = [&](const auto& list) {
    XXH3_128bits_update(&state, list.data(), list.size() * sizeof *list.data());
  };
  add(sizes);
  add(items_.leaves());
  add(ranks_);
  add(items_.columns());  // nothing where there are none
  const auto digest = XXH3_128bits_digest(&state);
  return {digest.high64, digest.low64};
}

}  // namespace cairn::inline v0_1::plan
