// Saves at equal drops of the loss, at even intervals, and the optimum.
#include "schedule/published.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "cairn/schedule/interval.hpp"
#include "cairn/schedule/optimum.hpp"

#include "common/statistics.hpp"
#include "schedule/grid.hpp"

namespace bench {
namespace {

using cairn::schedule::workload;
using saves = std::vector<std::uint32_t>;

/// Hours of a whole job.
constexpr std::array lengths{2.0, 25.0 / 3, 24.0, 48.0, 96.0};

/// P = (1 - exp(p1 S)) (1 / 2f - 1 / 2 p1), time in minutes, the loss 1 at the beginning: a save at each multiple of P.
saves equal_drops(const cell& where, const workload& job) {
  const double p1 = curve_of(where).p[0] * 60 / job.seconds.front(), stall = where.stall / 60,
               between = 60 * where.hours;
  const double drop = (1 - std::exp(p1 * stall)) * (between / 2 - 1 / (2 * p1));
  saves made;
  double next = 1 - drop;
  for (std::uint32_t k = 1; k < job.steps() && next > 0; ++k) {
    if (job.loss[k] > next) continue;
    made.push_back(k);
    while (next >= job.loss[k]) next -= drop;
  }
  return made;
}

/// Every `steps` steps, which need not be an integer.
saves every(double steps, const workload& job) {
  saves made;
  for (double k = steps; k < static_cast<double>(job.steps()) - 0.5; k += steps)
    made.push_back(static_cast<std::uint32_t>(std::lround(k)));
  return made;
}

/// What the rule saves, percent, in one cell.
struct gain {
  double over_young = 0, over_even = 0;
  double of_optimum = 0;  ///< what the optimum saves over Young
};

gain gain_in(const cell& where, cairn::schedule::objective what, double hours) {
  auto job = scenario_of(where, {}, 0);
  for (auto& seconds : job.work.seconds) seconds = 3600 * hours / static_cast<double>(iterations);
  const auto model = cost_model_of(what, job.work, {.stall = where.stall}, job.failures, job.stops);
  const double young_steps =
      cairn::schedule::young_interval(where.stall, 3600 * where.hours) / job.work.seconds.front();
  const double young = expected_cost(model, every(young_steps, job.work));
  double even = young;
  for (int i = -20; i <= 20; ++i)
    even = std::min(even, expected_cost(model, every(std::max(young_steps * std::pow(1.15, i), 1.0), job.work)));
  const double rule = expected_cost(model, equal_drops(where, job.work));
  return {100 * (1 - rule / young), 100 * (1 - rule / even), 100 * (1 - optimum(model).cost / young)};
}

}  // namespace

void compare_published_rule(report& numbers) {
  table all({"COCI's rule to the letter, % less", "hours", "than Young: median", "best", "than the best even: best",
             "optimum there"});
  for (const auto what : cairn::schedule::objectives)
    for (const double hours : lengths) {
      std::vector<double> over_young;
      gain best{.over_young = -1e300};
      double best_over_even = -1e300;
      for (const auto& where : all_cells()) {
        if (where.loses_workers) continue;
        const auto made = gain_in(where, what, hours);
        over_young.push_back(made.over_young);
        best_over_even = std::max(best_over_even, made.over_even);
        if (made.over_young > best.over_young) best = made;
      }
      all.row({std::string(name(what)), text_of(hours, 1), text_of(median(over_young), 1), text_of(best.over_young, 1),
               text_of(best_over_even, 1), text_of(best.of_optimum, 1)});
      const auto key = "coci.to_the_letter." + std::string(name(what)) + ".plan_of_" + text_of(hours, 0) + "_h";
      numbers.number(key + ".median", median(over_young));
      numbers.number(key + ".best", best.over_young);
      numbers.number(key + ".best_over_even", best_over_even);
      numbers.number(key + ".optimum_there", best.of_optimum);
    }
  all.print();
}

}  // namespace bench
