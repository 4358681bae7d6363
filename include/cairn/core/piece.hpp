// How leaves are cut into pieces for shards.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cairn/core/encoding.hpp"
#include "cairn/core/leaf.hpp"

namespace cairn {

/// The elements of a piece after a codec has encoded them.
struct encoded_piece {
  encoding_info how;
  leaf payload;  ///< its bytes, as U8
};

/// `count` consecutive elements of leaf number `leaf`, in row-major order, from element `first` on.
struct piece {
  std::size_t leaf = 0;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  std::shared_ptr<const encoded_piece> encoded{};  ///< how these elements are to be stored; null: as they are
  /// A packed copy of these elements, behind `room` bytes that are free too; null: they are in the leaf's own memory.
  std::byte* staged = nullptr;
  std::size_t room = 0;

  friend bool operator==(const piece&, const piece&) = default;
};

/// The pieces of every shard.
using division = std::vector<std::vector<piece>>;

/// Cuts the leaves into `shards` runs of nearly equal bytes, in order of the leaves. Each leaf lies in one shard or is cut between
/// consecutive ones. A shard may be empty.
[[nodiscard]] inline division divide_evenly(std::span<const leaf> leaves, std::size_t shards) {
  shards = std::max<std::size_t>(shards, 1);
  std::uint64_t total = 0;
  for (const auto& l : leaves) total += l.bytes();
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

}  // namespace cairn
