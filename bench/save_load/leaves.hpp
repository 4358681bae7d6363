// SPDX-License-Identifier: MIT
// The description of a state of many small tensors.
#pragma once

#include <cstddef>

namespace bench {

/// Describes about `tensors` small tensors in nested structs `reps` times. Returns the median, in nanoseconds per leaf.
[[nodiscard]] double describe_ns_per_leaf(std::size_t tensors, std::size_t reps);

}  // namespace bench
