// SPDX-License-Identifier: MIT
// How long it takes to open a checkpoint of very many tensors.
#pragma once

#include <cstddef>
#include <string>

namespace bench {

struct opening_result {
  double seconds = 0, json_seconds = 0;  ///< medians
  double json_bytes = 0;
  double over_json = 0;  ///< median of the ratios of neighbours
};

/// Saves about `tensors` small tensors below the directory `dir`, and opens the checkpoint `reps` times in turn with
/// RapidJSON alone, which parses the same index and headers and keeps nothing.
[[nodiscard]] opening_result measure_opening(const std::string& dir, std::size_t tensors, std::size_t reps);

}  // namespace bench
