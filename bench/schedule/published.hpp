// SPDX-License-Identifier: MIT
// COCI's rule as published, by expected costs: under which objective does it save what was published?
#pragma once

#include "common/report.hpp"

namespace bench {

/// The rule of the paper without our guards: no longest interval, and nothing after the last drop. In the cells of one
/// worker of the grid, with jobs of 2, 8.3, 24, 48 and 96 hours, in percent: less than Young's interval, less than the
/// best even interval, and what the optimum saves where the rule is best. Nothing is simulated. Published: up to 40.18
/// for one worker.
void compare_published_rule(report& numbers);

}  // namespace bench
