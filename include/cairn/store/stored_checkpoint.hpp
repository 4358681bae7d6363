// SPDX-License-Identifier: MIT
// An opened checkpoint: its index, and its shards, which are opened when they are needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/core/box.hpp"
#include "cairn/core/catalog.hpp"
#include "cairn/core/error.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/file_pool.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/stored_shard.hpp"

namespace cairn::inline v0_1::detail {

/// A piece of a leaf, and where it is.
struct stored_slice {
  std::size_t leaf = 0;     ///< index into catalog::leaves
  std::uint64_t first = 0;  ///< of a run of elements
  std::uint64_t count = 0;
  std::optional<box> region{};  ///< a box instead of a run
  std::size_t shard = 0;
  std::uint64_t begin = 0;                 ///< first byte in the shard's data section
  std::uint64_t bytes = 0;                 ///< there
  const encoding_info* encoded = nullptr;  ///< null: stored as it is

  [[nodiscard]] std::uint64_t end() const noexcept { return begin + bytes; }
  [[nodiscard]] bool is_relative() const noexcept { return encoded != nullptr && encoded->relative; }
};

/// Elements of a leaf: a run of them in row-major order, or a box. By default all from `first` on.
struct leaf_part {
  std::uint64_t first = 0, count = (std::numeric_limits<std::uint64_t>::max)();
  std::optional<box> region{};
};

struct stored_checkpoint {
  catalog contents;
  checkpoint_index index;  ///< its leaves and structure are in `contents`
  shard_list shards;

  /// The slices of a leaf that cover a part of it: runs in ascending order, or boxes. None for a part without elements. Opens their shards; errc::corrupt
  /// where these do not have what the index says.
  [[nodiscard]] std::vector<stored_slice> slices_of(std::size_t leaf, const leaf_part& part = {}) const;
  /// The slice of one piece of the leaf's layout. Opens its shard alone.
  [[nodiscard]] stored_slice slice_of(std::size_t leaf, placed_piece piece) const;
};

/// Calls `act(in_piece, in_region, count)` for each run of consecutive elements that a piece and a box of an array of this shape have in common, with
/// the numbers of its first element in both.
template <class Piece, class Act>
void for_each_common_run(const Piece& piece, const extents& shape, const box& region, const Act& act) {
  if (piece.region)
    for_each_common_run(*piece.region, region, act);
  else
    for_each_common_run(piece.first, piece.count, shape, region, act);
}

/// The same for two pieces, each of which is a run of elements or a box.
template <class Piece, class Other, class Act>
void for_each_common_run(const Piece& a, const Other& b, const extents& shape, const Act& act) {
  if (b.region) return for_each_common_run(a, shape, *b.region, act);
  if (a.region)
    return for_each_common_run(
        b.first, b.count, shape, *a.region,
        [&](std::uint64_t in_b, std::uint64_t in_a, std::uint64_t count) { act(in_a, in_b, count); });
  const auto begin = a.first > b.first ? a.first : b.first;
  const auto end = a.first + a.count < b.first + b.count ? a.first + a.count : b.first + b.count;
  if (begin < end) act(begin - a.first, begin - b.first, end - begin);
}

/// Opens checkpoint `name` and checks its index. If it is replaced meanwhile, as by merging, either the old or the new one is
/// opened. `files` keeps its shards open. Errors: not_found, corrupt, unsupported, io.
[[nodiscard]] stored_checkpoint open_checkpoint(const any_store& store, std::string_view name,
                                                std::shared_ptr<file_pool> files = {});

/// Opens a single safetensors file, Cairn's or any other's, as a checkpoint of one shard.
[[nodiscard]] stored_checkpoint open_checkpoint(std::unique_ptr<stores::source> file, std::string origin);

/// Whether another checkpoint has replaced the one whose index listed `shards`.
[[nodiscard]] bool is_replaced(const any_store& store, std::string_view name, const std::vector<index_shard>& shards);

/// Calls `open`. If it fails and `replaced` returns true, the checkpoint was replaced meanwhile: calls `open` again.
template <class Open, class Replaced>
auto open_again(const Open& open, const Replaced& replaced) {
  constexpr int most = 20;
  for (int attempt = 1;; ++attempt) {
    try {
      return open();
    } catch (const error&) {
      if (attempt == most || !replaced()) throw;
    }
  }
}

}  // namespace cairn::inline v0_1::detail
