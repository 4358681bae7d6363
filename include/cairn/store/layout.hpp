// SPDX-License-Identifier: MIT
// Where the elements of a leaf are: how it is cut into pieces, and which shard has each of them; and what is known of
// its encoding without its shards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "cairn/core/box.hpp"
#include "cairn/core/encoding.hpp"
#include "cairn/core/leaf.hpp"

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

/// Makes the layout of a leaf that consists of these pieces, in any order. Returns why that is not possible, "" if it
/// is: they must cover the leaf without overlap.
[[nodiscard]] std::string make_layout(std::vector<placed_piece> pieces, const extents& shape, leaf_layout& made);

/// What is wrong with a layout from an untrusted file, "" if nothing: the pieces must cover the leaf without overlap
/// and be in one of `shards` shards, and there may be at most `most_pieces`. O(n log n) for n pieces; times 2^d for
/// boxes that are cut in d dimensions.
[[nodiscard]] std::string find_fault(const leaf_layout& layout, const extents& shape, std::size_t shards,
                                     std::uint64_t most_pieces);

/// Calls `visit` for each piece of a leaf, runs and boxes of a grid in row-major order. Precondition: find_fault finds
/// none. A grid of a few bytes may have any number of pieces: check each before you keep it.
void for_each_piece(const leaf_layout& layout, const extents& shape, const std::function<void(placed_piece)>& visit);

/// The key in its shard of a piece that is not the whole leaf: "w[0:70]" for a run, "w[0:3,4:8]" for a box.
[[nodiscard]] std::string slice_key(std::string_view path, const placed_piece& piece);

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

}  // namespace cairn::inline v0_1::detail
