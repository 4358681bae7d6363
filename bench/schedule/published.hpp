// COCI's rule to the letter, by expected costs: under which objective does it save what was published?
#pragma once

#include "common/report.hpp"

namespace bench {

/// The rule of the paper without anything of ours: no guard behind the last slot, no longest interval. In the cells of one worker of the grid,
/// with plans of 2, 8.3 and 24 hours, against Young's interval, percent less; nothing is simulated. Published: up to 40.18 for one worker.
void compare_published_rule(report& numbers);

}  // namespace bench
