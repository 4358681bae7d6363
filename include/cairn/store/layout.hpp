// SPDX-License-Identifier: MIT
// Where the elements of a leaf are: how it is cut into pieces, and which shard has each of them; and what is known of
// its encoding without its shards.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "cairn/core/box.hpp"
#include "cairn/core/encoding.hpp"
#include "cairn/core/error.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/system/sort.hpp"

namespace cairn::inline v0_1::detail {

/// A piece of a leaf in a shard: a run of its elements in row-major order, or a box.
struct placed_piece {
  std::size_t shard = 0;
  std::uint64_t first = 0;  ///< of a run
  std::uint64_t count = 0;
  std::optional<box> region{};  ///< of a box

  friend bool operator==(const placed_piece&, const placed_piece&) = default;
};

/// Consecutive runs: each ends where the next one begins, the last one with the leaf.
struct run_layout {
  struct start {
    std::uint64_t shard, first;
  };
  std::vector<start> starts;
};

/// Boxes between cuts through the whole array. Their shards are listed in row-major order of the boxes.
struct grid_layout {
  /// Shards first, first + stride, ...: `count` of them.
  struct shard_series {
    std::uint64_t first, count, stride;
  };
  /// By dimension: one number n, for a cut every n indices; or all boundaries, from 0 to the extent.
  std::vector<extents> cuts;
  std::vector<shard_series> shards;
};

/// Any boxes, of an array of two dimensions or more.
struct box_layout {
  std::vector<std::pair<std::uint64_t, box>> boxes;  ///< with their shards
};

using leaf_cuts = std::variant<run_layout, grid_layout, box_layout>;

struct leaf_layout {
  std::size_t shard = 0;                  ///< of a leaf in one piece
  std::shared_ptr<const leaf_cuts> cuts;  ///< null: the leaf is in one piece
};

/// Of a leaf with pieces that are encoded. Pieces that are not, since that does not pay, may lie beside them.
struct leaf_encoding {
  std::string codec;           ///< of the first encoded piece
  bool relative = false;       ///< a piece is applied to the elements of the parent
  std::uint64_t stored = 0;    ///< bytes of all pieces
  std::optional<loss> lost{};  ///< the largest of each kind over the pieces

  friend bool operator==(const leaf_encoding&, const leaf_encoding&) = default;
};

/// What is known of a leaf while its pieces are found or written.
struct leaf_pieces {
  std::vector<placed_piece> where{};
  std::optional<leaf_encoding> encoded{};  ///< nullopt: no piece is encoded
  std::uint64_t bytes = 0;                 ///< stored

  /// Adds the stored bytes of pieces. `how`: the encoding_info of one, or the leaf_encoding of several; null if none is
  /// encoded.
  template <class Encoding>
  void add(std::uint64_t more, const Encoding* how) {
    bytes += more;
    if (how != nullptr) {
      if (!encoded) encoded.emplace().codec = how->codec;
      encoded->relative = encoded->relative || how->relative;
      if (how->lost) encoded->lost = worse(encoded->lost.value_or(loss{}), *how->lost);
    }
    if (encoded) encoded->stored = bytes;
  }
};

struct leaf_storage {
  leaf_layout layout;
  std::shared_ptr<const leaf_encoding> encoded;   ///< null: no piece is encoded
  std::shared_ptr<const restored_loss> restored;  ///< null: the elements have been restored from no lossy checkpoint
};

/// Boxes that are cut in more dimensions are refused: the check of them takes time exponential in it.
inline constexpr std::size_t max_cut_dimensions = 8;

/// The dimensions in which some box does not have the whole extent.
[[nodiscard]] inline std::vector<std::size_t> cut_dimensions(const box_layout& layout, const extents& shape) {
  std::vector<std::size_t> cut;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (std::ranges::any_of(layout.boxes, [&](const auto& each) { return each.second.shape[d] != shape[d]; }))
      cut.push_back(d);
  return cut;
}

/// The number of boxes along a dimension; 0 if the cuts are malformed.
[[nodiscard]] inline std::uint64_t boxes_along(const extents& cuts, std::uint64_t extent) noexcept {
  if (cuts.size() == 1) return cuts[0] == 0 ? 0 : extent / cuts[0] + (extent % cuts[0] != 0);
  const bool ascends = std::ranges::adjacent_find(cuts, std::greater_equal<>()) == cuts.end();
  return cuts.empty() || !ascends || cuts.front() != 0 || cuts.back() != extent ? 0 : cuts.size() - 1;
}

/// Box number `index` along a dimension: its first index and its extent.
[[nodiscard]] inline std::pair<std::uint64_t, std::uint64_t> range_along(const extents& cuts, std::uint64_t extent,
                                                                         std::uint64_t index) noexcept {
  if (cuts.size() == 1) return {index * cuts[0], std::min(cuts[0], extent - index * cuts[0])};
  return {cuts[index], cuts[index + 1] - cuts[index]};
}

/// Whether the boxes cover the array exactly. Each box adds 1 or -1 at its corners, by their parity, and the whole
/// array takes that away again: nothing may be left, because these numbers determine how often each element is covered.
[[nodiscard]] inline std::string find_fault(const box_layout& layout, const extents& shape) {
  if (shape.size() < 2) return "has boxes, but not two dimensions";
  for (const auto& [shard, part] : layout.boxes)
    if (!is_inside(part, shape)) return "has a box that is not inside";
  const auto cut = cut_dimensions(layout, shape);
  if (cut.size() > max_cut_dimensions) return "has boxes that are cut in more than 8 dimensions";
  std::map<extents, std::int64_t> left;
  const auto add_corners = [&](const box& part, std::int64_t sign) {
    if (part.count() == 0) return;
    extents corner(cut.size());
    for (std::size_t which = 0; which < std::size_t{1} << cut.size(); ++which) {
      auto parity = sign;
      for (std::size_t i = 0; i < cut.size(); ++i) {
        const bool is_end = (which >> i & 1U) != 0;
        corner[i] = part.first[cut[i]] + (is_end ? part.shape[cut[i]] : 0);
        parity = is_end ? -parity : parity;
      }
      const auto at = left.try_emplace(corner, 0).first;
      if ((at->second += parity) == 0) left.erase(at);
    }
  };
  for (const auto& [shard, part] : layout.boxes) add_corners(part, 1);
  add_corners({extents(shape.size()), shape}, -1);
  if (left.empty()) return {};
  extents where(shape.size());
  for (std::size_t i = 0; i < cut.size(); ++i) where[cut[i]] = left.begin()->first[i];
  return "has boxes that overlap or leave a hole at element " + to_string(where);
}

[[nodiscard]] inline std::string find_fault(const run_layout& layout, const extents& shape) {
  const auto& starts = layout.starts;
  if (starts.empty() || element_count(shape) == 0) return "has no runs, or no elements";
  const auto backwards = std::ranges::adjacent_find(starts, std::greater_equal<>(), &run_layout::start::first);
  const bool follow =
      starts.front().first == 0 && backwards == starts.end() && starts.back().first < element_count(shape);
  return follow ? "" : "has runs that do not follow each other";
}

[[nodiscard]] inline std::string find_fault(const grid_layout& layout, const extents& shape,
                                            std::uint64_t most_pieces) {
  if (layout.cuts.size() != shape.size()) return "has a grid of other dimensions";
  std::uint64_t boxes = 1, listed = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const auto along = boxes_along(layout.cuts[d], shape[d]);
    if (along == 0 || along > most_pieces / boxes) return "has a grid that does not fit";
    boxes *= along;
  }
  for (const auto& each : layout.shards) {
    if (each.count > boxes - listed) return "lists more shards than its grid has boxes";
    listed += each.count;
  }
  return listed == boxes ? "" : "lists fewer shards than its grid has boxes";
}

/// What is wrong with a layout from an untrusted file, "" if nothing: the pieces must cover the leaf without overlap
/// and be in one of `shards` shards, and there may be at most `most_pieces`. O(n log n) for n pieces; times 2^d for
/// boxes that are cut in d dimensions.
[[nodiscard]] inline std::string find_fault(const leaf_layout& layout, const extents& shape, std::size_t shards,
                                            std::uint64_t most_pieces) {
  constexpr std::string_view no_shard = "is in a shard that is not listed";
  const auto is_shard = [&](std::uint64_t shard) { return shard < shards; };
  if (layout.cuts == nullptr) return is_shard(layout.shard) ? "" : std::string(no_shard);
  if (const auto* runs = std::get_if<run_layout>(layout.cuts.get()))
    return std::ranges::all_of(runs->starts, is_shard, &run_layout::start::shard) ? find_fault(*runs, shape)
                                                                                  : std::string(no_shard);
  if (const auto* grid = std::get_if<grid_layout>(layout.cuts.get())) {
    const auto is_listed = [&](const auto& series) {
      if (series.count == 0 || series.first >= shards) return false;
      return series.stride == 0 || series.count - 1 <= (shards - 1 - series.first) / series.stride;
    };
    return std::ranges::all_of(grid->shards, is_listed) ? find_fault(*grid, shape, most_pieces) : std::string(no_shard);
  }
  const auto& boxes = std::get<box_layout>(*layout.cuts);
  const auto is_listed = [&](const auto& part) { return is_shard(part.first); };
  return std::ranges::all_of(boxes.boxes, is_listed) ? find_fault(boxes, shape) : std::string(no_shard);
}

/// Calls `visit` for each box of a grid, in row-major order.
inline void for_each_box(const grid_layout& grid, const extents& shape,
                         const std::function<void(placed_piece)>& visit) {
  extents index(shape.size()), boxes;
  for (std::size_t d = 0; d < shape.size(); ++d) boxes.push_back(boxes_along(grid.cuts[d], shape[d]));
  for (const auto& [first, count, stride] : grid.shards)
    for (std::uint64_t i = 0; i < count; ++i) {
      box part{extents(shape.size()), extents(shape.size())};
      for (std::size_t d = 0; d < shape.size(); ++d)
        std::tie(part.first[d], part.shape[d]) = range_along(grid.cuts[d], shape[d], index[d]);
      const auto elements = part.count();
      visit({first + i * stride, 0, elements, std::move(part)});
      for (auto d = shape.size(); d-- > 0;) {
        if (++index[d] < boxes[d]) break;
        index[d] = 0;
      }
    }
}

/// Calls `visit` for each piece of a leaf, runs and boxes of a grid in row-major order. Precondition: find_fault finds
/// none. A grid of a few bytes may have any number of pieces: check each before you keep it.
inline void for_each_piece(const leaf_layout& layout, const extents& shape,
                           const std::function<void(placed_piece)>& visit) {
  const auto count = element_count(shape);
  if (layout.cuts == nullptr) return visit({layout.shard, 0, count, {}});
  if (const auto* grid = std::get_if<grid_layout>(layout.cuts.get())) return for_each_box(*grid, shape, visit);
  if (const auto* boxes = std::get_if<box_layout>(layout.cuts.get())) {
    for (const auto& [shard, part] : boxes->boxes) visit({shard, 0, part.count(), part});
    return;
  }
  const auto& starts = std::get<run_layout>(*layout.cuts).starts;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const auto end = i + 1 < starts.size() ? starts[i + 1].first : count;
    visit({starts[i].shard, starts[i].first, end - starts[i].first, {}});
  }
}

/// The cuts of a dimension, in the short form where they are at equal distances.
[[nodiscard]] inline extents cuts_of(std::vector<std::uint64_t> starts, std::uint64_t extent) {
  std::sort(starts.begin(), starts.end());
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  if (starts.size() == 1) return {extent};
  const auto every = starts[1];
  bool is_even = extent > 0 && (extent - 1) / every == starts.size() - 1;
  for (std::size_t i = 0; i < starts.size(); ++i) is_even = is_even && starts[i] == i * every;
  if (is_even) return {every};
  starts.push_back(extent);
  return starts;
}

/// The grid of the boxes, if they are one.
[[nodiscard]] inline std::optional<grid_layout> grid_of(const box_layout& boxes, const extents& shape) {
  grid_layout grid;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    std::vector<std::uint64_t> starts;
    for (const auto& [shard, part] : boxes.boxes) starts.push_back(part.first[d]);
    grid.cuts.push_back(cuts_of(std::move(starts), shape[d]));
  }
  for (const auto& [shard, part] : boxes.boxes) {
    auto& all = grid.shards;
    if (!all.empty() && all.back().count == 1 && shard > all.back().first) all.back().stride = shard - all.back().first;
    if (!all.empty() && shard == all.back().first + all.back().count * all.back().stride)
      ++all.back().count;
    else
      all.push_back({shard, 1, 1});
  }
  if (!find_fault(grid, shape, boxes.boxes.size()).empty()) return {};
  auto next = boxes.boxes.begin();
  bool is_same = true;
  for_each_box(grid, shape, [&](const placed_piece& piece) { is_same = is_same && piece.region == (next++)->second; });
  return is_same ? std::optional(grid) : std::nullopt;
}

/// make_layout for runs.
[[nodiscard]] inline std::string make_runs(std::vector<placed_piece> pieces, const extents& shape, leaf_layout& made) {
  const auto count = element_count(shape);
  if (pieces.size() == 1 && pieces[0].first == 0 && pieces[0].count == count)
    return made = {pieces[0].shard, nullptr}, "";
  sort_items(pieces, [](const auto& a, const auto& b) { return a.first < b.first; });
  run_layout runs;
  std::uint64_t end = 0;
  for (const auto& each : pieces) {
    if (each.first < end || each.count == 0) return "has pieces that overlap";
    if (each.first > end) break;
    if (each.count > count - end) return "has a piece that reaches beyond its end";
    end += each.count;
    runs.starts.push_back({each.shard, each.first});
  }
  if (end != count || runs.starts.size() != pieces.size()) return "has a hole at element " + std::to_string(end);
  return made = {0, std::make_shared<const leaf_cuts>(std::move(runs))}, "";
}

/// Makes the layout of a leaf that consists of these pieces, in any order. Returns why that is not possible, "" if it
/// is: they must cover the leaf without overlap.
[[nodiscard]] inline std::string make_layout(std::vector<placed_piece> pieces, const extents& shape,
                                             leaf_layout& made) {
  if (pieces.empty()) return "has no pieces";
  if (element_count(shape) == 0) return made = {pieces.front().shard, nullptr}, "";
  if (std::ranges::none_of(pieces, [](const auto& each) { return each.region.has_value(); }))
    return make_runs(std::move(pieces), shape, made);
  box_layout boxes;
  for (auto& each : pieces) {
    if (!each.region) return "is cut into runs and boxes";
    boxes.boxes.emplace_back(each.shard, std::move(*each.region));
  }
  sort_items(boxes.boxes, [](const auto& a, const auto& b) { return a.second.first < b.second.first; });
  for (const auto& [shard, part] : boxes.boxes)
    if (!is_inside(part, shape)) return "has a box that is not inside";
  if (const auto& [shard, part] = boxes.boxes.front(); boxes.boxes.size() == 1 && part.shape == shape)
    return made = {shard, nullptr}, "";
  if (auto grid = grid_of(boxes, shape)) return made = {0, std::make_shared<const leaf_cuts>(std::move(*grid))}, "";
  if (auto fault = find_fault(boxes, shape); !fault.empty()) return fault;
  return made = {0, std::make_shared<const leaf_cuts>(std::move(boxes))}, "";
}

/// The key in its shard of a piece that is not the whole leaf: "w[0:70]" for a run, "w[0:3,4:8]" for a box.
[[nodiscard]] inline std::string slice_key(std::string_view path, const placed_piece& piece) {
  const auto range = [](std::uint64_t first, std::uint64_t count) {
    return std::to_string(first) + ':' + std::to_string(first + count);
  };
  if (!piece.region) return sentence({path, "[", range(piece.first, piece.count), "]"});
  std::string ranges;
  for (std::size_t d = 0; d < piece.region->shape.size(); ++d)
    ranges += (d != 0 ? "," : "") + range(piece.region->first[d], piece.region->shape[d]);
  return sentence({path, "[", ranges, "]"});
}

}  // namespace cairn::inline v0_1::detail
