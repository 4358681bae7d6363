// SPDX-License-Identifier: MIT
// Copies to a second place, in simulated jobs: what they save over one far place alone, and what learning costs.
#pragma once

#include <cstddef>

#include "common/report.hpp"

namespace bench {

/// Adds `where.*` to the numbers.
void compare_places(std::size_t jobs, report& numbers);

}  // namespace bench
