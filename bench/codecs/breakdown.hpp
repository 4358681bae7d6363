// SPDX-License-Identifier: MIT
// Which step of the LC-Checkpoint scheme saves how much.
#pragma once

#include <span>
#include <string>

#include "codecs/trainer.hpp"
#include "common/report.hpp"

namespace bench {

/// Of the fp32 bytes.
struct saved_percent {
  double e, ep, eph;  ///< as published
  double cairn;       ///< by Cairn's payloads
};

/// Prints, for 2 and 3 bits, the share of the fp32 bytes of all deltas of the chain that is saved by exponent buckets
/// (E), by promotion of the largest (E+P) and by a Huffman code of single symbols (E+P+H), as published, and by Cairn,
/// which codes packed symbols; beside the published numbers. The deltas are those to what a reader of Cairn's has.
/// Buckets are per array. Returns the numbers for 2 bits. `key`: the beginning of the names of the numbers.
saved_percent print_breakdown(std::span<const parameter> parameters, const weight_chain& chain, const std::string& key,
                              report& numbers);

}  // namespace bench
