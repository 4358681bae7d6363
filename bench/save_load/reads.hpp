// SPDX-License-Identifier: MIT
// How many bytes of a checkpoint a load of a part of it reads.
#pragma once

#include <string>

#include "save_load/state.hpp"

namespace bench {

/// Bytes read from files, index and headers included, over the bytes of the arrays that are loaded.
struct reads_result {
  double subtree = 0;  ///< the weights, by a filter
  double tenth = 0;    ///< every array with a chance of one in ten; the mean of several draws
};

/// Saves `state` below the directory `dir`, and loads the parts into it.
[[nodiscard]] reads_result measure_reads(const std::string& dir, training_state& state);

}  // namespace bench
