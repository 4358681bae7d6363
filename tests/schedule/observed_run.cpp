// SPDX-License-Identifier: MIT
#include "cairn/schedule/observed_run.hpp"

#include "catch.hpp"

namespace {

using namespace cairn;
using namespace cairn::schedule;
using std::chrono::seconds;

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

/// After one step of a second for each clock.
double since(std::initializer_list<double> clock, double iteration) {
  time_since_save time;
  moment now;
  for (const double second : clock) {
    now.step += 1;
    now.seconds = second;
    now.iteration_seconds = iteration;
    time.observe(now);
  }
  return time.seconds();
}

TEST_CASE("time since a save is by the clock where that advances") {
  CHECK(since({1, 2, 3.5}, 1) == 3.5);
  CHECK(since({1, 2, 3.5}, no_number) == 3.5);
  CHECK(since({10, 20, 35}, 1) == 35);
}

TEST_CASE("time since a save is by the iterations where the clock does not advance") {
  CHECK(since({5, 5, 5}, 1) == 7);
  CHECK(since({5, 1, 2}, 1) == 7);
  CHECK(since({no_number, no_number}, 1) == 2);
  CHECK(since({1, infinite, 3}, 1) == 3);
  CHECK(since({1, -infinite, 3}, 1) == 3);
  CHECK(since({-5, -5}, no_number) == 0);
  CHECK(since({1, 1, 1}, infinite) == 1);
}

TEST_CASE("time since a save begins again with every save, after its stall") {
  time_since_save time;
  time.observe({.step = 5, .seconds = 7, .saved_step = 4, .saved_seconds = 6.5});
  CHECK(time.seconds() == 0.5);
  time.observe({.step = 6, .seconds = 12, .saved_step = 5, .saved_seconds = 10});
  CHECK(time.seconds() == 2);
  time.observe({.step = 7, .seconds = 14, .saved_step = 6, .saved_seconds = no_number});
  CHECK(time.seconds() == 2);
  time.observe({.step = 8, .seconds = 15, .saved_step = 7, .saved_seconds = 0});
  CHECK(time.seconds() == 1);
  time.observe({.step = 8, .seconds = 15.5, .saved_step = 7, .iteration_seconds = 1});
  CHECK(time.seconds() == 1.5);
  time.observe({.step = 8, .seconds = 15.5, .saved_step = 8, .saved_seconds = 15.5, .iteration_seconds = 1});
  CHECK(time.seconds() == 0);
  CHECK(time.observe({.step = 10, .seconds = 19, .saved_step = 9, .saved_seconds = 17}) == 2);
}

TEST_CASE("after a failure a run had worked no longer than from one save to the next and until that was published") {
  const auto run_with_saves_every = [](std::uint64_t steps) {
    observed_run run;
    moment now;
    for (now.step = 1; now.step <= 4 * steps; ++now.step) {
      now.seconds += now.iteration_seconds = 1;
      run.observe(now);
      if (now.step % steps != 0) continue;
      now.saved_step = now.step;
      now.saved_seconds = now.seconds;
      run.saved({.step = now.step, .background_seconds = 3});
    }
    return run;
  };
  for (const std::uint64_t steps : {20U, 60U}) {
    const auto before = run_with_saves_every(steps);
    cairn::policy_memory memory;
    before.remember(memory);
    const auto mtbf_after = [&](double away) {
      observed_run again;
      again.recall(memory);
      again.restarted({.step = 4 * steps, .away_seconds = away});
      return again.mtbf();
    };
    const auto interval = static_cast<double>(steps);
    CHECK(mtbf_after(3600) == mtbf_after(interval + 3));
    CHECK(mtbf_after(interval + 2) < mtbf_after(interval + 3));
    cairn::schedule::mtbf_estimate expected;
    expected.worked(4 * interval);
    expected.restarted({.away_seconds = interval + 3});
    CHECK(mtbf_after(3600) == Approx(expected.seconds()).epsilon(0.01));
  }
}

TEST_CASE("a save out of turn does not make the next interval seem short") {
  observed_run run;
  moment now;
  const auto work = [&](int steps) {
    for (int i = 0; i < steps; ++i) {
      ++now.step;
      now.seconds += now.iteration_seconds = 1;
      run.observe(now);
    }
    now.saved_step = now.step;
    now.saved_seconds = now.seconds;
  };
  for (const int steps : {100, 100, 100, 2}) work(steps);
  cairn::policy_memory memory;
  run.remember(memory);
  observed_run again;
  again.recall(memory);
  again.restarted({.step = now.step, .away_seconds = 3600});
  cairn::schedule::mtbf_estimate expected;
  expected.worked(302);
  expected.restarted({.away_seconds = 50});
  CHECK(again.mtbf() == Approx(expected.seconds()).epsilon(0.01));
}

save_cost stall(save_kind kind, double waited, double background = 0) {
  return {.kind = kind, .stall_seconds = waited, .background_seconds = background};
}

}  // namespace

TEST_CASE("a save that is published within one iteration is noticed, and what iterations vary by themselves is not") {
  iteration_times times;
  std::mt19937 random(1);
  cairn::moment now;
  for (now.step = 1; now.step <= 4000; ++now.step) {
    const bool is_beside = now.step % 10 == 1;  // after a save at every tenth step
    if (is_beside) now.saved_step = now.step - 1;
    now.iteration_seconds = std::normal_distribution<>(1, 0.05)(random) + (is_beside ? 0.1 : 0);
    times.observe(now);
    if (is_beside) times.saved(0.4);
  }
  CHECK(times.slowdown() == Approx(0.25).margin(0.05));
}

TEST_CASE("iteration times pass over what is no time, and are remembered") {
  iteration_times times;
  for (const double bad : {0.0, -1.0, no_number, infinite}) {
    times.observe({.iteration_seconds = bad});
    times.saved(bad);
  }
  CHECK(times.seconds() == 0);
  CHECK(times.slowdown() == 0);
  times.observe({.iteration_seconds = 2});
  times.observe({.iteration_seconds = 5, .is_saving = true});
  times.saved(10);
  cairn::policy_memory memory;
  times.remember(memory);
  iteration_times restored;
  restored.recall(memory);
  CHECK(restored.seconds() == 2);
  CHECK(times.slowdown() == Approx(0.3).epsilon(0.05));
  CHECK(restored.slowdown() == times.slowdown());
  for (const auto& bad : {std::vector<double>{1}, {1, no_number}, {infinite, 1}, {1, -1}})
    restored.recall({{"slowdown", bad}});
  CHECK(restored.slowdown() == times.slowdown());
}

TEST_CASE("a save whose stall is no number does not count") {
  observed_costs costs;
  costs.observe(stall(save_kind::raw, no_number, 1));
  CHECK_FALSE(costs.mean(save_kind::raw));
  CHECK_FALSE(costs.mean());
  costs.observe(stall(save_kind::whole, 2));
  costs.observe(stall(save_kind::delta, -1));
  CHECK(costs.mean()->stall_seconds == 2);
}

TEST_CASE("costs are what they were after a restart") {
  observed_costs costs, restored;
  costs.observe(stall(save_kind::raw, 1, 10));
  costs.observe(stall(save_kind::delta, 2, 20));
  costs.observe(stall(save_kind::raw, 3, 30));
  cairn::policy_memory memory;
  costs.remember(memory);
  restored.recall(memory);
  CHECK(restored.mean(save_kind::raw)->stall_seconds == 2);
  CHECK(restored.mean(save_kind::delta)->background_seconds == 20);
  CHECK_FALSE(restored.mean(save_kind::whole));
  CHECK(restored.mean(save_kind::raw)->background_seconds == 20);
  restored.recall({{"raw.stall", {}}, {"raw.nonsense", {1, 2}}, {"delta.stall", {no_number, 1}}});
  CHECK(restored.mean(save_kind::delta)->stall_seconds == 2);
  CHECK(restored.mean(save_kind::raw)->stall_seconds == 2);
}
