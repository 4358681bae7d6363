// SPDX-License-Identifier: MIT
// Are predicted saves those that this machine makes?
#pragma once

#include "common/arguments.hpp"
#include "common/report.hpp"

namespace bench {

/// Prints predicted and measured saves of 1, 2 and 4 ranks, as the options `directory`, `reps` and `wait` say. The
/// prediction knows a few saves of one process, measured in the same repetition; nothing of groups.
void compare_with_saves(const arguments& options, report& numbers);

}  // namespace bench
