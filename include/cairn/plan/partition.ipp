// Definitions of plan/partition.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <type_traits>
#include <utility>

#include "cairn/core/checksum.hpp"
#include "cairn/core/error.hpp"
#include "cairn/plan/partition.hpp"

namespace cairn::plan {

namespace detail {

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

/// How many small leaves each active rank gets, so that the numbers of pieces level out: those with the fewest pieces first.
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

CAIRN_INLINE std::vector<leaf_size> sizes_of(std::span<const cairn::detail::leaf> leaves) {
  std::vector<leaf_size> sizes;
  sizes.reserve(leaves.size());
  for (const auto& leaf : leaves) {
    const auto elements = leaf.count();
    const auto rows = std::find_if(leaf.shape.begin(), leaf.shape.end(), [](auto extent) { return extent > 1; });
    sizes.push_back({elements, leaf.bytes(), elements == 0 || rows == leaf.shape.end() ? 1 : elements / *rows});
  }
  return sizes;
}

CAIRN_INLINE partition::partition(std::vector<leaf_size> leaves, std::vector<rank_load> ranks)
    : leaves_(std::move(leaves)), ranks_(std::move(ranks)), starts_(ranks_.size() + 1) {
  cairn::detail::check_shards(ranks_.size());
  std::uint64_t bytes = 0;
  for (const auto& leaf : leaves_) {
    if (leaf.bytes > 0 && leaf.elements == 0)
      fail(errc::invalid, {"a leaf without elements has ", leaf.bytes, " bytes"});
    detail::add(bytes, leaf.bytes, "the bytes");
  }
  divide_bytes(bytes);
  // 1. Which leaves are small: they make the numbers of pieces even.
  find_small(bytes);
  // 2. Cut the axis in proportion to the shares, and count the pieces.
  std::uint64_t on_axis = 0;
  for (const auto& leaf : leaves_) on_axis += is_small(leaf) ? 0 : leaf.bytes;
  std::vector<std::uint64_t> ends(ranks_.size());
  for (std::size_t rank = 0; rank < ends.size(); ++rank)
    ends[rank] = bytes == 0 ? 0 : detail::scaled(on_axis, ends_[rank + 1], bytes);
  const auto pieces = cut(ends);
  // 3. Deal the small leaves. If a rank gets more than its share, no leaf is small.
  const auto loads = deal(pieces);
  for (std::size_t rank = 0; rank < ends.size(); ++rank)
    if (loads[rank] > share_of(rank)) small_below_ = 0;
  // 4. Cut again: the shares less the small leaves.
  std::uint64_t dealt = 0;
  for (std::size_t rank = 0; rank < ends.size(); ++rank) {
    if (small_below_ > 0) dealt += loads[rank];
    ends[rank] = ends_[rank + 1] - dealt;
  }
  cut(ends);
}

/// The share of each rank: in total `bytes`, and with the other bytes in proportion to the weights, except where those are more already.
CAIRN_INLINE void partition::divide_bytes(std::uint64_t bytes) {
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

/// Sets the limits of pieces. Small are the leaves of the smallest classes (0, 1, 2-3, 4-7, ... bytes) below two minimum pieces that have an eighth of
/// all bytes together.
CAIRN_INLINE void partition::find_small(std::uint64_t bytes) {
  constexpr std::uint64_t kib = 1024, mib = kib * kib;
  const auto active = static_cast<std::uint64_t>(std::count(is_active_.begin(), is_active_.end(), true));
  const std::uint64_t share = bytes / active;
  minimum_piece_ = std::clamp(share / 256, 4 * kib, mib);
  near_a_row_ = share / 1024;
  std::array<std::uint64_t, 22> of_class{};
  static_assert(std::bit_width(2 * mib) == of_class.size());
  for (const auto& leaf : leaves_) {
    const auto number = static_cast<std::size_t>(std::bit_width(leaf.bytes));
    if (number < of_class.size()) of_class[number] += leaf.bytes;
  }
  std::uint64_t together = 0;
  for (std::size_t number = 0; number < of_class.size(); ++number) {
    const auto limit = std::uint64_t{1} << number;
    together += of_class[number];
    if (limit > 2 * minimum_piece_ || together > bytes / 8) break;
    small_below_ = limit;
  }
}

/// Cuts the axis at `ends`: for each rank the byte where its interval ends, ascending. Returns how many pieces each rank has on the axis,
/// where one between two cuts at the same element counts.
CAIRN_INLINE std::vector<std::size_t> partition::cut(std::span<const std::uint64_t> ends) {
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
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    const auto& leaf = leaves_[i];
    if (is_small(leaf)) continue;
    ++leaves;
    for (; rank + 1 < ends.size() && ends[rank] < before + leaf.bytes;) {
      const auto element = element_at(leaf, ends[rank] - before);
      end_rank(element == leaf.elements ? i + 1 : i, element == leaf.elements ? 0 : element);
      number[rank] -= starts_[rank].leaf == i;
    }
    before += leaf.bytes;
  }
  while (rank < ends.size()) end_rank(leaves_.size(), 0);

  std::vector<std::size_t> pieces(ends.size());
  for (rank = 0; rank < pieces.size(); ++rank)
    pieces[rank] = number[rank + 1] - number[rank] + (starts_[rank + 1].element > 0);
  return pieces;
}

/// 5. The element before which a leaf is cut at or near its byte: an end of the leaf within a minimum piece, the nearest row if it is near, or
/// the nearest element.
CAIRN_INLINE std::uint64_t partition::element_at(const leaf_size& leaf, std::uint64_t byte) const {
  const auto after = leaf.bytes - byte;
  if (std::min(byte, after) < minimum_piece_) return byte <= after ? 0 : leaf.elements;
  const auto element = detail::nearest(leaf.elements, byte, leaf.bytes);
  if (leaf.row <= 1) return element;
  const auto below = element - element % leaf.row;
  const auto above = leaf.elements - below > leaf.row ? below + leaf.row : leaf.elements;
  const auto row = element - below <= above - element ? below : above;
  const auto apart = detail::scaled(leaf.bytes, row < element ? element - row : row - element, leaf.elements);
  return apart <= near_a_row_ ? row : element;
}

/// Deals the small leaves to ranks that have `pieces` already, in order. Returns the bytes that each rank gets.
CAIRN_INLINE std::vector<std::uint64_t> partition::deal(const std::vector<std::size_t>& pieces) {
  const auto small =
      std::count_if(leaves_.begin(), leaves_.end(), [&](const leaf_size& leaf) { return is_small(leaf); });
  auto left = detail::leveled(pieces, is_active_, static_cast<std::size_t>(small));
  std::vector<std::uint64_t> loads(ranks_.size());
  std::size_t rank = 0;
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    if (!is_small(leaves_[i])) continue;
    while (left[rank] == 0) starts_[++rank].dealt = i;
    loads[rank] += leaves_[i].bytes;
    --left[rank];
  }
  while (rank < ranks_.size()) starts_[++rank].dealt = leaves_.size();
  return loads;
}

CAIRN_INLINE std::vector<cairn::detail::piece> partition::pieces_of(std::size_t rank) const {
  if (rank >= ranks_.size()) fail(errc::invalid, {"a plan of ", ranks_.size(), " ranks has no rank ", rank});
  const auto &begin = starts_[rank], &end = starts_[rank + 1];
  const bool is_empty = begin.leaf == end.leaf && begin.element == end.element;
  const auto last = is_empty ? end.leaf : end.leaf + (end.element > 0);
  std::vector<cairn::detail::piece> pieces;
  for (auto i = std::min(begin.leaf, begin.dealt); i < std::max(last, end.dealt); ++i) {
    if (i >= last && i < begin.dealt) i = begin.dealt;
    if (i >= end.dealt && i < begin.leaf) i = begin.leaf;
    if (i >= std::max(last, end.dealt)) break;
    const auto& leaf = leaves_[i];
    const bool is_dealt = is_small(leaf);
    if (is_dealt ? i < begin.dealt || i >= end.dealt : i < begin.leaf || i >= last) continue;
    const auto first = !is_dealt && i == begin.leaf ? begin.element : 0;
    const auto past = !is_dealt && i == end.leaf ? end.element : leaf.elements;
    pieces.push_back({.leaf = i, .first = first, .count = past - first});
  }
  return pieces;
}

CAIRN_INLINE cairn::detail::division partition::pieces() const {
  cairn::detail::division all;
  all.reserve(ranks_.size());
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) all.push_back(pieces_of(rank));
  return all;
}

CAIRN_INLINE std::uint64_t partition::bytes_of(const cairn::detail::piece& which) const {
  const auto& leaf = leaves_[which.leaf];
  if (leaf.elements == 0) return 0;
  const auto before = [&](std::uint64_t element) { return detail::scaled(leaf.bytes, element, leaf.elements); };
  return before(which.first + which.count) - before(which.first);
}

CAIRN_INLINE input_hash partition::hash() const {
  static_assert(std::has_unique_object_representations_v<leaf_size> &&
                std::has_unique_object_representations_v<rank_load>);
  constexpr std::uint64_t version = 1;  // of the plan: another one has other pieces
  const std::array<std::uint64_t, 3> sizes{version, leaves_.size(), ranks_.size()};
  XXH3_state_t state;
  XXH3_128bits_reset(&state);
  const auto add = [&](const auto& list) {
    XXH3_128bits_update(&state, list.data(), list.size() * sizeof *list.data());
  };
  add(sizes);
  add(leaves_);
  add(ranks_);
  const auto digest = XXH3_128bits_digest(&state);
  return {digest.high64, digest.low64};
}

}  // namespace cairn::plan
