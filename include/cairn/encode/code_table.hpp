// SPDX-License-Identifier: MIT
// A Huffman code table that several payloads share.
#pragma once

#include <array>
#include <cstdint>

#include "cairn/core/config.hpp"

namespace cairn::inline v0_1 {

/// Bits of the code of each byte value, at most 12; 0: the value has no code.
using code_lengths = std::array<std::uint8_t, 256>;

/// A table and its id: the XXH3-64 of its lengths.
struct code_table {
  std::uint64_t id = 0;
  code_lengths lengths{};

  friend bool operator==(const code_table&, const code_table&) = default;
};

}  // namespace cairn::inline v0_1
