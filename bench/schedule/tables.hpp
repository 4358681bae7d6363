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

/// All policies, told the same, under all objectives: the gap of the optimal policy to the exact optimum, what it gains over Young's rule, in
/// how many cells another one beats it, and what COCI's rule gains.
void compare_rules(const table_setting& how, report& numbers);

/// Our policy with what our saves cost, against the others with what blocking saves cost, in machine time with restoring.
void compare_systems(const table_setting& how, std::span<const measured_costs> measured, report& numbers);

/// Seconds of the exact optimum over 100,000 iterations, nanoseconds of one decision, seconds of 10,000 simulated jobs.
void time_scheduling(report& numbers);

}  // namespace bench
