// SPDX-License-Identifier: MIT
#include "schedule/planner.hpp"

#include "cairn/schedule/interval.hpp"
#include "schedule/optimum.hpp"
#include "catch.hpp"

using namespace bench::schedule;
using cairn::loss_curve;
using cairn::moment;
using std::chrono::duration;

namespace {

constexpr loss_curve falling(double rate) { return {loss_curve::family::exponential, {-rate, 0, 0, 0}}; }

/// The steps at which a planner saves.
std::vector<std::uint32_t> saves(planner self, std::uint64_t steps, const current_costs& all,
                                 const std::optional<loss_curve>& curve = std::nullopt) {
  std::vector<std::uint32_t> made;
  moment now;
  for (now.step = 1; now.step <= steps; ++now.step) {
    now.seconds += all.iteration_seconds;
    if (!self.is_due(now, all.iteration_seconds, all, curve)) continue;
    made.push_back(static_cast<std::uint32_t>(now.step));
    now.saved_step = now.step;
    now.saved_seconds = now.seconds;
  }
  if (!made.empty() && made.back() == steps) made.pop_back();
  return made;
}

/// The same job for `optimum`.
cost_model charged(objective what, std::uint64_t steps, const current_costs& all, double rate,
                   const bench::schedule::any_early_stop& stops = early_stops::none{}) {
  workload job{.seconds = std::vector<double>(steps, all.iteration_seconds)};
  for (std::uint64_t k = 0; k <= steps; ++k) job.loss.push_back(std::exp(-rate * static_cast<double>(k)));
  return cost_model_of(what, job, {.stall = all.save_seconds, .background = all.background},
                       failures::exponential{duration<double>(all.mtbf)}, stops);
}

}  // namespace

TEST_CASE("without an end or a curve, at Daly's interval") {
  for (const auto what :
       {objective::machine_time, objective::progress, objective::exploratory, objective::worker_seconds}) {
    const auto made =
        saves(planner({.what = what}), 20'000, {.iteration_seconds = 0.5, .mtbf = 5000, .save_seconds = 0.4});
    const double even = cairn::schedule::daly_interval(0.4, 5000) / 0.5;
    REQUIRE(made.size() > 50);
    for (std::size_t i = 1; i < made.size(); ++i) CHECK(std::abs(made[i] - made[i - 1] - even) <= 1);
  }
}

TEST_CASE("for every objective the cost is within a hundredth of the optimum's, whether many saves are left or few") {
  std::mt19937 random(4);
  for (int i = 0; i < 60; ++i) {
    const auto what = objectives[static_cast<std::size_t>(i) % objectives.size()];
    const auto real = [&](double from, double to) {
      return std::exp(std::uniform_real_distribution<>(std::log(from), std::log(to))(random));
    };
    const std::uint64_t steps = 5000;
    const current_costs all{.iteration_seconds = 0.7, .mtbf = real(500, 1e5), .save_seconds = real(0.05, 5)};
    const double rate = real(1, 20) / static_cast<double>(steps);
    const auto job = charged(what, steps, all, rate);
    const auto best = optimum(job);
    const auto ours = expected_cost(job, saves(planner({.what = what, .last_step = steps}), steps, all, falling(rate)));
    INFO(name(what) << ", MTBF " << all.mtbf << ", save " << all.save_seconds << ", optimum " << best.saves.size()
                    << " saves, cost " << best.cost);
    CHECK(ours >= best.cost * (1 - 1e-9));
    CHECK(ours <= best.cost * 1.01 + 1e-9);
  }
}

TEST_CASE("where few saves are left, early stops and the time until a save is published are in the plan") {
  for (const double background : {0.0, 200.0}) {
    const current_costs all{.iteration_seconds = 1, .mtbf = 3000, .save_seconds = 20, .background = background};
    const early_stops::uniform stops{0.4, 0.6};
    const auto job = charged(objective::machine_time, 2000, all, 0, stops);
    const auto made = saves(planner({.last_step = 2000, .stops = stops}), 2000, all);
    const auto best = optimum(job);
    CHECK(expected_cost(job, made) <= 1.005 * best.cost);
    REQUIRE_FALSE(best.saves.empty());
    CHECK(made.back() <= 1200);
  }
}

TEST_CASE("how long the plan takes, where it is told, says what progress is worth") {
  const current_costs all{.iteration_seconds = 1, .mtbf = 5000, .save_seconds = 0.02};
  const auto early = [&](std::optional<double> seconds) {
    const auto made = saves(planner({.what = objective::exploratory, .last_step = 10'000, .seconds = seconds}), 1000,
                            all, falling(1e-3));
    return static_cast<double>(made.size());
  };
  CHECK(early(10'000) == early(std::nullopt));
  CHECK(early(40'000) == Approx(2 * early(10'000)).epsilon(0.05));
}

TEST_CASE("a run that starts at a later step plans from there") {
  const current_costs all{.iteration_seconds = 1, .mtbf = 5000, .save_seconds = 0.2};
  constexpr std::uint64_t begin = 100'000, steps = 5000;
  const auto saves_of = [&](planner self, std::uint64_t first, const loss_curve& curve) {
    std::vector<std::uint64_t> made;
    moment now;
    for (now.step = first + 1; now.step <= first + steps; ++now.step) {
      if (!self.is_due(now, 1, all, curve)) continue;
      made.push_back(now.step - first);
      now.saved_step = now.step;
    }
    return made;
  };
  loss_curve later = falling(0.002);
  later.p[1] = 0.002 * begin;  // the same fall, from `begin` on
  for (const auto what : {objective::exploratory, objective::progress}) {
    const early_stops::uniform stops{0.4, 0.6};
    const run_options from_0{.what = what, .last_step = steps, .stops = stops};
    const run_options from_begin{.what = what, .last_step = begin + steps, .stops = stops};
    const auto expected = saves_of(planner(from_0), 0, falling(0.002));
    const auto made = saves_of(planner(from_begin), begin, later);
    INFO(name(what));
    REQUIRE(expected.size() > 20);
    CHECK(made == expected);
  }
}

TEST_CASE("a planner that recalls its memory plans as the one that ran through") {
  const current_costs all{.iteration_seconds = 1, .mtbf = 1000, .save_seconds = 0.2};
  for (const auto what : objectives) {
    planner through({.what = what, .last_step = 5000});
    planner after = through;
    std::vector<std::uint64_t> expected, made;
    const auto go_on = [&](planner& self, moment now, std::uint64_t to, std::vector<std::uint64_t>& saved) {
      for (++now.step; now.step <= to; ++now.step)
        if (self.is_due(now, 1, all, falling(0.0005))) saved.push_back(now.saved_step = now.step);
      return now.saved_step;
    };
    moment now;
    bool is_saved = false;
    while (now.step < 3000 || !is_saved) {
      ++now.step;
      is_saved = through.is_due(now, 1, all, falling(0.0005));
      if (is_saved) now.saved_step = now.step;
    }
    cairn::policy_memory memory;
    through.remember(memory);
    after.recall(memory);
    go_on(through, now, 5000, expected);
    go_on(after, now, 5000, made);
    INFO(name(what));
    REQUIRE(expected.size() > 2);
    CHECK(made == expected);
  }
}

TEST_CASE("after a restore in the same process, the work that is lost does not count for the next save") {
  const current_costs all{.iteration_seconds = 1, .mtbf = 5000, .save_seconds = 1};
  planner self({});
  moment now;
  const auto next_save = [&] {
    do ++now.step;
    while (!self.is_due(now, 1, all, std::nullopt));
    return now.step;
  };
  const auto first = next_save();
  now.saved_step = first;
  const auto interval = next_save() - first;
  REQUIRE(interval > 50);
  self.restarted();
  now.step = first;
  CHECK(next_save() == first + interval);
}

TEST_CASE("where no save pays none is made") {
  CHECK(saves(planner({.last_step = 1000}), 1000, {.iteration_seconds = 1, .mtbf = 1e9, .save_seconds = 100}).empty());
}

TEST_CASE("steps beyond the planned end go on at Daly's interval") {
  const current_costs all{.iteration_seconds = 1, .mtbf = 5000, .save_seconds = 1};
  const auto made = saves(planner({.what = objective::exploratory, .last_step = 1000}), 5000, all, falling(0.01));
  REQUIRE(made.size() > 10);
  CHECK(made.back() > 4700);
}

TEST_CASE("a curve that comes late, changes or goes away is followed") {
  const current_costs all{.iteration_seconds = 1, .mtbf = 5000, .save_seconds = 0.01};
  planner self({.what = objective::exploratory, .last_step = 10'000});
  const auto mean_interval = [&](std::uint64_t from, const std::optional<loss_curve>& curve) {
    moment now{.step = from, .saved_step = from};
    int made = 0;
    for (int i = 0; i < 500; ++i) {
      ++now.step;
      if (!self.is_due(now, 1, all, curve)) continue;
      now.saved_step = now.step;
      ++made;
    }
    return 500.0 / made;
  };
  const double even = mean_interval(0, std::nullopt);
  CHECK(even == Approx(cairn::schedule::daly_interval(0.01, 5000)).epsilon(0.1));
  CHECK(mean_interval(500, falling(1e-3)) < 0.6 * even);
  CHECK(mean_interval(7000, falling(1e-3)) > 3 * even);
  CHECK(mean_interval(7500, std::nullopt) == Approx(even).epsilon(0.1));
}

TEST_CASE("odd curves and costs give decisions all the same") {
  const double infinite = std::numeric_limits<double>::infinity();
  for (const auto what : objectives)
    for (const double p : {0.0, 1e300, -1e300, infinite, std::nan("")})
      for (const double cost : {0.0, 1e-9, 1e9})
        for (const double mtbf : {1e-3, 1e4, infinite}) {
          const loss_curve odd{loss_curve::family::power_law, {p, p, p, p}};
          const auto made = saves(planner({.what = what, .last_step = 300}), 400,
                                  {.iteration_seconds = 1, .mtbf = mtbf, .save_seconds = cost}, odd);
          INFO(name(what) << ", p " << p << ", cost " << cost << ", MTBF " << mtbf);
          CHECK(made.size() <= 400);
          if (cost == 0 && mtbf == 1e4 && what == objective::machine_time) CHECK(made.size() > 300);
        }
}
