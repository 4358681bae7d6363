// SPDX-License-Identifier: MIT
// The Huffman coder alone, on random symbols of known entropy.
#pragma once

#include "codecs/contest.hpp"

namespace bench {

struct symbols_result {
  double entropy = 0;             ///< bits per symbol
  double bits = 0;                ///< bits per symbol, code table included
  double encode = 0, decode = 0;  ///< GB/s of packed bytes
};

/// 64 Mi symbols of 2 bits at .90, .05, .03 and .02, four to a byte.
[[nodiscard]] symbols_result measure_symbols(const patience& how);

}  // namespace bench
