// SPDX-License-Identifier: MIT
// A vector of small records saved to memory, against memcpy of the same bytes.
#pragma once

#include <chrono>
#include <cstddef>

namespace bench {

struct columns_result {
  double save_gbps, memcpy_gbps;  ///< medians
  double over_memcpy;             ///< median of the ratios of neighbours
};

/// Saves `records` records of three 4-byte fields with Cairn into a memory store, `reps` times in turn with
/// memcpy into memory already touched; waits `patience` for idle cores before each.
[[nodiscard]] columns_result measure_columns(std::size_t records, std::size_t reps,
                                             std::chrono::duration<double> patience);

}  // namespace bench
