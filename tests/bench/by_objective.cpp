// SPDX-License-Identifier: MIT
#include "schedule/by_objective.hpp"

#include "cairn/schedule/fits/estimators.hpp"
#include "catch.hpp"
#include "schedule/driven_run.hpp"

using namespace bench::schedule;
using cairn::loss_curve;
using cairn::moment;
using std::chrono::duration;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity(), none = std::numeric_limits<double>::quiet_NaN();

/// A curve that is known.
struct known {
  loss_curve truth;
  void observe(double /*step*/, double /*loss*/) {}
  [[nodiscard]] std::optional<loss_curve> curve() const { return truth; }
};

constexpr loss_curve falling{loss_curve::family::exponential, {-0.002, 0, 0, 0}};
const cairn::mtbf_prior certain = cairn::known_mtbf(duration<double>(5000));

/// Saves of a run in which every save takes `stall` seconds, an iteration one.
struct run {
  by_objective policy;
  double stall = 0.2;
  bool tells_loss = true;
  moment now{};
  std::vector<std::uint64_t> saves{};

  void go(std::uint64_t steps, double noise = 0) {
    std::mt19937 random(1);
    for (std::uint64_t i = 0; i < steps; ++i) {
      ++now.step;
      now.seconds += now.iteration_seconds = 1;
      if (tells_loss)
        now.loss = falling.at(static_cast<double>(now.step)) * std::exp(std::normal_distribution<>(0, noise)(random));
      if (!policy.should_save(now)) continue;
      saves.push_back(now.step);
      now.saved_step = now.step;
      now.saved_seconds = now.seconds;
      now.seconds += stall;
      policy.saved({.step = now.step, .stall_seconds = stall});
    }
  }
  [[nodiscard]] std::size_t between(std::uint64_t from, std::uint64_t to) const {
    return static_cast<std::size_t>(
        std::count_if(saves.begin(), saves.end(), [&](auto s) { return s > from && s <= to; }));
  }
};

}  // namespace

TEST_CASE("an objective by the loss needs an estimator, where the end is known") {
  for (const auto what : bench::schedule::objectives) {
    CHECK_NOTHROW(by_objective({.what = what}));
    if (what == objective::machine_time || what == objective::worker_seconds)
      CHECK_NOTHROW(by_objective({.what = what, .last_step = 10}));
    else
      CHECK_THROWS_WITH(by_objective({.what = what, .last_step = 10}), Catch::Contains("needs an estimator"));
  }
}

TEST_CASE("exploratory: most saves where the loss falls most, as the optimum has them") {
  run exploring{
      by_objective({.what = objective::exploratory, .last_step = 5000, .mtbf = certain, .estimator = known{falling}})};
  exploring.go(5000);
  // The density goes with exp(-0.001 step).
  CHECK(exploring.between(500, 1500) > 2 * exploring.between(2000, 3000));
  CHECK(exploring.between(2000, 3000) > 2 * exploring.between(4000, 5000));
}

TEST_CASE("with a fit instead of the truth it does nearly the same") {
  const auto saves = [](cairn::any_estimator estimator) {
    run exploring{by_objective(
        {.what = objective::exploratory, .last_step = 5000, .mtbf = certain, .estimator = std::move(estimator)})};
    exploring.go(5000, 0.1);
    return exploring;
  };
  const auto fitted = saves(cairn::estimators::best_of{}), truth = saves(known{falling});
  for (std::uint64_t from = 500; from < 4500; from += 1000)
    CHECK(std::abs(static_cast<double>(fitted.between(from, from + 1000)) -
                   static_cast<double>(truth.between(from, from + 1000))) <= 2);
}

TEST_CASE("the curve that it has learned is there again after a restart") {
  const by_objective fresh = by_objective(
      {.what = objective::exploratory, .last_step = 5000, .mtbf = certain, .estimator = cairn::estimators::best_of{}});
  run before{fresh};
  before.go(2500);
  run after{fresh};
  after.policy.recall(before.policy.remember());
  after.now = {.step = 2500, .saved_step = 2500};
  after.tells_loss = before.tells_loss = false;
  after.go(1000);
  before.now.loss.reset();
  before.saves.clear();
  before.now.saved_step = 2500;
  before.now.saved_seconds = before.now.seconds;
  before.go(1000);
  CHECK(after.saves == before.saves);
}

TEST_CASE("known failures count by the age of the process: where old ones fail less, intervals grow") {
  const auto gaps = [](bench::schedule::any_failures failures) {
    run machine{by_objective({.failures = std::move(failures), .stall = duration<double>(0.2)})};
    machine.go(4000);
    const auto gap_at = [&](std::size_t i) {
      return static_cast<double>(machine.saves.at(i + 1) - machine.saves.at(i));
    };
    return std::pair(gap_at(0), gap_at(machine.saves.size() - 2));
  };
  const auto [first, last] = gaps(bench::schedule::failures::weibull::of_mean(duration<double>(5000), 0.5));
  CHECK(last > 1.5 * first);
  const auto even = gaps(bench::schedule::failures::exponential{duration<double>(5000)});
  CHECK(std::abs(even.first - even.second) <= 1);
  CHECK(even.first == Approx(cairn::schedule::daly_interval(0.2, 5000)).margin(1));
  run safe{by_objective({.failures = bench::schedule::failures::never{}, .stall = duration<double>(0.2)})};
  safe.go(8000);
  CHECK(safe.saves.size() == 2);  // one per longest interval
}

TEST_CASE("invalid losses, clocks and costs: no step saved twice, no hour without a checkpoint") {
  std::mt19937 random(9);
  for (const auto what : bench::schedule::objectives)
    for (const double mtbf : {0.0, 1e-3, 1e4, infinite, none})
      for (const double cost : {-1.0, 0.0, 1.0, 1e6, infinite, none}) {
        const by_objective policy({.what = what,
                                   .last_step = 700,
                                   .mtbf = {duration<double>(mtbf), random() % 2 ? 0 : 1.5},
                                   .estimator = cairn::estimators::best_of{}});
        CHECK(driven::saves_of_invalid_run(policy, cost, random) >= 4);
      }
}
