// Slots at equal drops of the loss, and even ones.
#include "schedule/published.hpp"

#include <algorithm>
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

/// P = (1 - exp(p1 S)) (1 / 2f - 1 / 2 p1), time in minutes, the loss 1 at the beginning: a save at each multiple of P.
std::vector<std::uint32_t> equal_drops(const cell& where, const cairn::schedule::workload& job) {
  const double p1 = curve_of(where).p[0] * 60 / job.seconds.front(), stall = where.stall / 60,
               between = 60 * where.hours;
  const double drop = (1 - std::exp(p1 * stall)) * (between / 2 - 1 / (2 * p1));
  std::vector<std::uint32_t> saves;
  double next = 1 - drop;
  for (std::uint32_t k = 1; k < job.steps() && next > 0; ++k) {
    if (job.loss[k] > next) continue;
    saves.push_back(k);
    while (next >= job.loss[k]) next -= drop;
  }
  return saves;
}

std::vector<std::uint32_t> even(const cell& where, const cairn::schedule::workload& job) {
  const double steps = cairn::schedule::young_interval(where.stall, 3600 * where.hours) / job.seconds.front();
  std::vector<std::uint32_t> saves;
  for (double k = steps; k < static_cast<double>(job.steps()) - 0.5; k += steps)
    saves.push_back(static_cast<std::uint32_t>(std::lround(k)));
  return saves;
}

}  // namespace

void compare_published_rule(report& numbers) {
  table all({"COCI's rule to the letter, % less than Young", "plan of 2 h: median", "best", "8.3 h: median", "best",
             "24 h: median", "best"});
  for (const auto what : cairn::schedule::objectives) {
    std::vector<std::string> row{std::string(name(what))};
    for (const double hours : {2.0, 25.0 / 3, 24.0}) {
      std::vector<double> less;
      for (const auto& where : all_cells()) {
        if (where.loses_workers) continue;
        auto job = scenario_of(where, {}, 0);
        for (auto& seconds : job.work.seconds) seconds = 3600 * hours / static_cast<double>(iterations);
        const auto charged = cost_model_of(what, job.work, {.stall = where.stall}, job.failures, job.stops);
        less.push_back(100 * (1 - expected_cost(charged, equal_drops(where, job.work)) /
                                      expected_cost(charged, even(where, job.work))));
      }
      const double best = *std::max_element(less.begin(), less.end());
      row.push_back(text_of(median(less), 1));
      row.push_back(text_of(best, 1));
      const auto key = "coci.to_the_letter." + std::string(name(what)) + ".plan_of_" + text_of(hours, 0) + "_h";
      numbers.number(key + ".median", median(less));
      numbers.number(key + ".best", best);
    }
    all.row(row);
  }
  all.print();
}

}  // namespace bench
