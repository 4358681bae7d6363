// SPDX-License-Identifier: MIT
// A piece to be written: where its bytes are, and how they are encoded.
#pragma once

#include <cstddef>
#include <span>

#include "cairn/core/encoding.hpp"
#include "cairn/core/piece.hpp"
#include "cairn/store/chain_metadata.hpp"

namespace cairn::inline v0_1::detail {

/// The input of the writer. What it refers to must outlive the write.
struct write_piece : piece {
  std::span<const std::byte> bytes{};     ///< the payload, or the elements packed; empty: they are in the leaf's memory
  const encoding_info* how = nullptr;     ///< of the payload; null: the elements are stored as they are
  const stored_tables* tables = nullptr;  ///< the code tables that the payload names; may be null
};

}  // namespace cairn::inline v0_1::detail
