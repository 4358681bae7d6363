// SPDX-License-Identifier: MIT
// How a leaf is stored: its layout, and what is known of its encoding and losses without its shards.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cairn/core/encoding.hpp"
#include "cairn/store/layout.hpp"

namespace cairn::inline v0_1::detail {

/// Of a leaf with pieces that are encoded. Pieces that are not, since that does not pay, may lie beside them.
struct leaf_encoding {
  std::string codec;           ///< of the first encoded piece
  bool relative = false;       ///< a piece is applied to the elements of the parent
  std::uint64_t stored = 0;    ///< bytes of all pieces
  std::optional<loss> lost{};  ///< the largest of each kind over the pieces

  friend bool operator==(const leaf_encoding&, const leaf_encoding&) = default;
};

/// Adds the encoding of some pieces to that of others, except for `stored`.
inline void add_encoding(std::optional<leaf_encoding>& all, const leaf_encoding& more) {
  if (!all) all.emplace().codec = more.codec;
  all->relative = all->relative || more.relative;
  if (more.lost) all->lost = worse(all->lost.value_or(loss{}), *more.lost);
}

/// Adds a piece of `bytes` stored bytes to what is known of its leaf. `how`: null if the piece is not encoded.
inline void add_piece(std::optional<leaf_encoding>& all, std::uint64_t& all_bytes, const encoding_info* how,
                      std::uint64_t bytes) {
  all_bytes += bytes;
  if (how != nullptr) add_encoding(all, {how->codec, how->relative, 0, how->lost});
  if (all) all->stored = all_bytes;
}

struct leaf_storage {
  leaf_layout layout;
  std::shared_ptr<const leaf_encoding> encoded;   ///< null: no piece is encoded
  std::shared_ptr<const restored_loss> restored;  ///< null: the elements have been restored from no lossy checkpoint
};

}  // namespace cairn::inline v0_1::detail
