// SPDX-License-Identifier: MIT
// What policies cost over the grid of simulated jobs, as tables, figures and a picture.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "common/report.hpp"
#include "schedule/costs.hpp"

namespace bench {

struct table_setting {
  std::size_t jobs = 200;  ///< per policy and cell
  unsigned threads = 2;
  std::string file{};    ///< for the table of all cells; empty: none
  std::string figure{};  ///< SVG; empty: none
};

/// All policies, with the same options, under all objectives: the gap of the optimal policy to the exact optimum, what
/// it gains over Young's rule, in how many cells another one costs less by exact expected costs, and what COCI's rule
/// gains.
void compare_rules(const table_setting& how, report& numbers);

/// Every rule with blocking saves and with ours, whole, raw and (our policy) chosen: machine time with restoring. So
/// the merit of the saves and that of the rule are seen apart.
void compare_systems(const table_setting& how, std::span<const measured_costs> measured, report& numbers);

/// Seconds of the exact optimum over 100,000 iterations, nanoseconds of one decision, seconds of 10,000 simulated jobs.
void time_scheduling(report& numbers);

}  // namespace bench
