// SPDX-License-Identifier: MIT
// Lays out a shard: a safetensors file whose metadata adds what only Cairn knows: slices, encodings, code tables, block checksums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cairn/core/encoding.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/core/piece.hpp"
#include "cairn/store/shard_metadata.hpp"
#include "cairn/store/layout.hpp"
#include "cairn/store/safetensors.hpp"

namespace cairn::inline v0_1::detail {

/// The input of the writer. What it refers to must outlive the write.
struct write_piece : piece {
  std::span<const std::byte> bytes{};     ///< the payload, or the elements packed; empty: they are in the leaf's memory
  const encoding_info* how = nullptr;     ///< of the payload; null: the elements are stored as they are
  const stored_tables* tables = nullptr;  ///< the code tables that the payload names; may be null
};

/// A shard to be written: its header with room for checksums, and the piece of every tensor.
struct shard_layout {
  safetensors_header header;
  std::vector<write_piece> pieces;  ///< parallel to header.tensors
  std::string header_text;          ///< the file's first bytes, checksums still zeros
};

/// Lays out the shard that holds `pieces`: the widest elements first, so that every element is aligned in the file, then by path. The
/// same leaves give the same bytes. errc::invalid for a piece that is not part of its leaf.
[[nodiscard]] shard_layout lay_out_shard(std::span<const leaf> leaves, std::vector<write_piece> pieces,
                                         std::uint64_t step);

/// The shape of the array that a leaf is, or is a box of.
[[nodiscard]] inline const extents& whole_shape(const leaf& of) noexcept {
  return of.place ? of.place->whole : of.shape;
}

/// The elements of the whole array that a piece in shard `shard` has.
[[nodiscard]] placed_piece place_of(const leaf& of, const piece& which, std::size_t shard);

/// Puts the checksums of the blocks into the header of the laid-out shard.
void set_block_checksums(shard_layout& layout, std::span<const std::uint64_t> blocks);

}  // namespace cairn::inline v0_1::detail
