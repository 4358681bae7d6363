// SPDX-License-Identifier: MIT
// Pieces of leaves, and how leaves are cut into pieces for shards.
//
// Terms of all stages:
// - leaf: one array of a state (leaf.hpp).
// - piece: consecutive elements of a leaf, which are copied, encoded and written together.
// - slice: a piece in a checkpoint: one tensor of a shard.
// - shard: one data file of a checkpoint, with pieces of many leaves.
// - part: consecutive shards of a save that are copied together, where the memory for the copy is limited.
// - block of a shard: bytes with one checksum. Block of a payload, in encode/ alone: elements that one thread encodes.
// - chunk: consecutive blocks of a shard that one thread writes together.
// - strip: elements of a block that stay in the cache during all steps of a codec.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cairn/core/error.hpp"
#include "cairn/core/leaf.hpp"

namespace cairn::inline v0_1::detail {

/// `count` consecutive elements of leaf number `leaf`, in row-major order, from element `first` on.
struct piece {
  std::size_t leaf = 0;
  std::uint64_t first = 0;
  std::uint64_t count = 0;

  friend bool operator==(const piece&, const piece&) = default;
};

/// Bytes of its elements.
[[nodiscard]] inline std::uint64_t bytes_of(std::span<const leaf> leaves, const piece& which) noexcept {
  return which.count * size_of(leaves[which.leaf].type);
}
/// Bytes of the elements of several.
[[nodiscard]] inline std::uint64_t bytes_of(std::span<const leaf> leaves, std::span<const piece> pieces) noexcept {
  std::uint64_t bytes = 0;
  for (const auto& each : pieces) bytes += bytes_of(leaves, each);
  return bytes;
}
/// Bytes of all elements.
[[nodiscard]] inline std::uint64_t bytes_of(std::span<const leaf> leaves) noexcept {
  std::uint64_t bytes = 0;
  for (const auto& each : leaves) bytes += each.bytes();
  return bytes;
}

/// The order of the pieces in a shard: those of the widest elements first, so that every element is aligned in the
/// file; then by path. Copies have the same order, so that they can be written as they lie.
[[nodiscard]] inline bool comes_before(std::span<const leaf> leaves, const piece& a, std::size_t width_of_a,
                                       const piece& b, std::size_t width_of_b) {
  if (width_of_a != width_of_b) return width_of_a > width_of_b;
  const leaf &x = leaves[a.leaf], &y = leaves[b.leaf];
  return x.path != y.path ? x.path < y.path : a.first < b.first;
}

/// A piece whose elements may have been copied. The copy can be overwritten, as by a codec that encodes in place.
struct staged_piece : piece {
  std::byte* copy = nullptr;  ///< the elements, packed; null: they are in the leaf's memory
  std::size_t room = 0;       ///< free bytes directly before the copy
};

/// The pieces of every shard.
template <std::derived_from<piece> Piece>
using shards_of = std::vector<std::vector<Piece>>;
using division = shards_of<piece>;

/// What `make` makes of each piece.
template <std::derived_from<piece> Piece, class Shards, class Make>
[[nodiscard]] shards_of<Piece> transformed(const Shards& shards, const Make& make) {
  shards_of<Piece> result(shards.size());
  for (std::size_t i = 0; i < shards.size(); ++i) {
    result[i].reserve(shards[i].size());
    for (const auto& each : shards[i]) result[i].push_back(make(each));
  }
  return result;
}

/// The pieces as another type whose members beyond `piece` have their defaults: the elements are in the leaves' memory.
template <std::derived_from<piece> Piece>
[[nodiscard]] shards_of<Piece> from_leaves(const division& shards) {
  return transformed<Piece>(shards, [](const piece& each) { return Piece{each}; });
}

inline constexpr std::size_t max_shards = 100'000;

/// errc::invalid for no shards or more than `max_shards`.
inline void check_shards(std::size_t shards) {
  if (shards > max_shards) fail(errc::invalid, {"shards is ", shards, ", not 0 to ", max_shards});
}

/// About 256 MiB per shard, at most 64 shards, of whole leaves: threads that write into different files do not wait for
/// each other, and other readers of the format find every array whole. The leaves alone decide the number of shards.
[[nodiscard]] inline division divide_by_size(std::span<const leaf> leaves) {
  constexpr std::uint64_t bytes_per_shard = std::uint64_t{256} << 20U, most = 64;
  std::uint64_t before = 0;
  const auto total = bytes_of(leaves);
  const auto count = std::clamp<std::uint64_t>(total / bytes_per_shard, 1, most), share = total / count + 1;
  division result(count);
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    result[(before + leaves[i].bytes() / 2) / share].push_back({.leaf = i, .first = 0, .count = leaves[i].count()});
    before += leaves[i].bytes();
  }
  if (count > 1)
    std::erase_if(result, [](const auto& shard) { return shard.empty(); });  // where a leaf has several shares
  return result;
}

/// Cuts the leaves into pieces for `shards` shards of nearly equal bytes, in the order of the leaves. A leaf lies in
/// one shard or is cut between consecutive ones; a leaf without elements is one empty piece. A shard may be empty. 0
/// shards: see divide_by_size. errc::invalid: see check_shards.
[[nodiscard]] inline division divide_evenly(std::span<const leaf> leaves, std::size_t shards) {
  check_shards(shards);
  if (shards == 0) return divide_by_size(leaves);
  const auto total = bytes_of(leaves);
  const std::uint64_t share = total / shards + (total % shards != 0);
  division result(shards);
  std::size_t shard = 0;
  std::uint64_t room = share;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const std::uint64_t count = leaves[i].count(), width = size_of(leaves[i].type);
    if (count == 0) result[shard].push_back({.leaf = i});
    for (std::uint64_t first = 0; first < count;) {
      if (room < width && shard + 1 < shards) {
        ++shard;
        room += share;
      }
      const bool last = shard + 1 == shards;
      const auto taken = last ? count - first : std::min(count - first, std::max<std::uint64_t>(room / width, 1));
      result[shard].push_back({.leaf = i, .first = first, .count = taken});
      room -= std::min(room, taken * width);
      first += taken;
    }
  }
  return result;
}

}  // namespace cairn::inline v0_1::detail
