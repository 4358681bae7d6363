// SPDX-License-Identifier: MIT
// Saves at equal drops of the loss, at even intervals, and the optimum.
#include "schedule/published.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "cairn/schedule/interval.hpp"
#include "schedule/optimum.hpp"

#include "common/statistics.hpp"
#include "schedule/grid.hpp"

namespace bench {
namespace {

using schedule::workload;
using saves = std::vector<std::uint32_t>;

/// Hours of a whole job.
constexpr std::array lengths{2.0, 25.0 / 3, 24.0, 48.0, 96.0};

/// P_j = (1 - exp(x_j p1 w_j S)) (1 / 2f - 1 / 2 x_j p1), time in minutes, the loss 1 at the beginning, w_j workers,
/// which fail w_j times as often as one: a save each time that the loss has fallen by P_j. x_j, the speed-up, is in the
/// times of the steps.
saves equal_drops(const cell& where, const workload& job) {
  const double per_step = curve_of(where).p[0], stall = where.stall / 60;
  saves made;
  double saved = 1;
  for (std::uint32_t k = 1; k < job.steps(); ++k) {
    const double rate = per_step * 60 / job.seconds[k], between = 60 * where.hours / job.workers[k];
    const double drop = (1 - std::exp(rate * job.workers[k] * stall)) * (between / 2 - 1 / (2 * rate));
    if (saved - drop <= 0 || job.loss[k] > saved - drop) continue;
    made.push_back(k);
    while (saved - drop >= job.loss[k]) saved -= drop;
  }
  return made;
}

/// Each time that `share` of Young's interval for the workers of that time has passed, at the nearest step.
saves every_young(double share, const cell& where, const workload& job) {
  saves made;
  double passed = 0;  // intervals
  for (std::uint32_t k = 1; k + 1 < job.steps(); ++k) {
    const double between = 3600 * where.hours / job.workers[k - 1];
    const double interval = std::max(share * cairn::schedule::young_interval(where.stall, between), job.seconds[k - 1]);
    passed += job.seconds[k - 1] / interval;
    if (passed + 0.5 * job.seconds[k] / interval < 1) continue;
    made.push_back(k);
    passed -= 1;
  }
  return made;
}

/// What the rule saves, percent, in one cell.
struct gain {
  double over_young = 0, over_even = 0;
  double of_optimum = 0;  ///< what the optimum saves over Young
};

gain gain_in(const cell& where, schedule::objective what, double hours) {
  auto job = scenario_of(where, {}, 0);
  const double whole = std::accumulate(job.work.seconds.begin(), job.work.seconds.end(), 0.0);
  for (auto& seconds : job.work.seconds) seconds *= 3600 * hours / whole;
  const auto model = cost_model_of(what, job.work, {.stall = where.stall}, job.failures, job.stops);
  const double young = expected_cost(model, every_young(1, where, job.work));
  double even = young;
  for (int i = -20; i <= 20; ++i)
    even = std::min(even, expected_cost(model, every_young(std::pow(1.15, i), where, job.work)));
  const double rule = expected_cost(model, equal_drops(where, job.work));
  return {100 * (1 - rule / young), 100 * (1 - rule / even), 100 * (1 - optimum(model).cost / young)};
}

}  // namespace

void compare_published_rule(report& numbers) {
  table all({"COCI's rule to the letter, % less", "workers", "hours", "than Young: median", "best",
             "than the best even: best", "optimum there"});
  for (const auto what : schedule::objectives)
    for (const bool loses_workers : {false, true})
      for (const double hours : lengths) {
        std::vector<double> over_young;
        gain best{.over_young = -1e300};
        double best_over_even = -1e300;
        for (const auto& where : all_cells()) {
          if (where.loses_workers != loses_workers) continue;
          const auto made = gain_in(where, what, hours);
          over_young.push_back(made.over_young);
          best_over_even = std::max(best_over_even, made.over_even);
          if (made.over_young > best.over_young) best = made;
        }
        all.row({std::string(name(what)), loses_workers ? "4, 2, 1" : "1", text_of(hours, 1),
                 text_of(median(over_young), 1), text_of(best.over_young, 1), text_of(best_over_even, 1),
                 text_of(best.of_optimum, 1)});
        const auto key = "coci.to_the_letter." + std::string(name(what)) + (loses_workers ? ".4_2_1_workers" : "") +
                         ".plan_of_" + text_of(hours, 0) + "_h";
        numbers.number(key + ".median", median(over_young));
        numbers.number(key + ".best", best.over_young);
        numbers.number(key + ".best_over_even", best_over_even);
        numbers.number(key + ".optimum_there", best.of_optimum);
      }
  all.print();
}

}  // namespace bench
