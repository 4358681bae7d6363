// What the writer stores of a leaf in one shard.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cairn/core/encoding.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/core/piece.hpp"

namespace cairn {

/// `count` consecutive elements of leaf number `leaf`, in row-major order, from element `first` on. What it points to has to stay
/// until it is written.
struct write_piece {
  std::size_t leaf = 0;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  std::span<const std::byte>
      bytes{};  ///< a packed copy of the elements, or their payload; empty: they are in the leaf's memory
  const encoding_info* how = nullptr;  ///< of the payload; null: the elements are stored as they are
};

/// The pieces of a shard as the writer takes them.
[[nodiscard]] inline std::vector<write_piece> write_pieces(std::span<const leaf> leaves,
                                                           std::span<const piece> pieces) {
  std::vector<write_piece> all;
  all.reserve(pieces.size());
  for (const auto& p : pieces) {
    auto& made = all.emplace_back(write_piece{p.leaf, p.first, p.count});
    if (p.encoded)
      made.bytes = {p.encoded->payload.memory, p.encoded->payload.bytes()}, made.how = &p.encoded->how;
    else if (p.staged != nullptr)
      made.bytes = {p.staged, p.count * size_of(leaves[p.leaf].type)};
  }
  return all;
}

}  // namespace cairn
