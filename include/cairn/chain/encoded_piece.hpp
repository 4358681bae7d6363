// SPDX-License-Identifier: MIT
// A piece as it will be stored: the output of encoding and merging, and the input of the writer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cairn/core/encoding.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/core/piece.hpp"
#include "cairn/store/shard.hpp"
#include "cairn/system/memory.hpp"

namespace cairn::inline v0_1::detail {

/// A piece that is stored as a payload, or as it is.
struct encoded_piece : piece {
  std::optional<encoding_info> how{};  ///< of the payload; nullopt: the elements are stored as they are
  std::span<const std::byte> bytes{};  ///< the payload, or the elements packed; empty: they are in the leaf's memory
  page_buffer memory{};                ///< holds the payload, unless that lies in staged memory
  stored_tables tables{};              ///< that the payload names

  /// Stores the first `size` bytes of `payload`, which the piece then owns.
  void own(encoding_info encoding, page_buffer payload, std::size_t size) {
    how = std::move(encoding);
    memory = std::move(payload);
    bytes = memory.bytes().first(size);
  }

  /// Bytes that the piece, of leaf `whole`, takes in its file.
  [[nodiscard]] std::uint64_t stored_bytes(const detail::leaf& whole) const noexcept {
    return how ? bytes.size() : count * size_of(whole.type);
  }
};

/// The pieces for the writer. They refer to `shards`.
[[nodiscard]] inline shards_of<write_piece> for_writer(std::span<const std::vector<encoded_piece>> shards) {
  shards_of<write_piece> result(shards.size());
  for (std::size_t i = 0; i < shards.size(); ++i) {
    result[i].reserve(shards[i].size());
    for (const auto& each : shards[i])
      result[i].push_back({each, each.bytes, each.how ? &*each.how : nullptr, &each.tables});
  }
  return result;
}

}  // namespace cairn::inline v0_1::detail
