// SPDX-License-Identifier: MIT
#include "cairn/schedule/even_intervals.hpp"

#include "catch.hpp"
#include "driven_run.hpp"

namespace {

using namespace cairn::policies;
using cairn::schedule::probe_steps;
using namespace std::chrono;

constexpr double known = std::numeric_limits<double>::infinity();  // nothing is learned

}  // namespace

static_assert(cairn::policy<young> && cairn::policy<daly>);

TEST_CASE("Young and Daly: nothing that is observed trips them") {
  driven::survives(young());
  driven::survives(daly());
  for (const double mtbf : {0.0, -1.0, known, std::numeric_limits<double>::quiet_NaN(), 1e-300})
    for (const double stall : {0.0, -1.0, known, std::numeric_limits<double>::quiet_NaN(), 1e300}) {
      driven::survives(young({.mtbf = {.mtbf = duration<double>(mtbf)}, .stall = duration<double>(stall)}), 4);
      driven::survives(daly({.mtbf = cairn::known_mtbf(duration<double>(mtbf))}), 4);
    }
}

TEST_CASE("with a known stall and MTBF, Young saves every sqrt(2 S M) seconds") {
  for (const double iteration : {0.01, 0.3, 7.0}) {
    young policy({.mtbf = cairn::known_mtbf(hours{4}), .stall = duration<double>(0.5)});
    driven::run run{.iteration = iteration, .cost = {.stall_seconds = 0.5}};
    run.steps(policy, 60000);
    CHECK(static_cast<double>(run.newest_gap()) * iteration ==
          Approx(cairn::schedule::young_interval(0.5, 4 * 3600)).margin(0.51 * iteration));
    CHECK(static_cast<double>(run.saves.front()) * iteration == Approx(120).margin(0.51 * iteration));
  }
}

TEST_CASE("the longest interval of Young and Daly is an option") {
  const auto gap = [](const cairn::policies::even_interval_options& options) {
    young policy(options);
    driven::run run{.iteration = 10};
    return 10 * run.steps(policy, 10'000).newest_gap();
  };
  const auto rare = cairn::known_mtbf(seconds{100'000});  // sqrt(2 S M) = 6324.6
  CHECK(gap({.mtbf = rare, .stall = seconds{200}}) == 3600);
  CHECK(gap({.mtbf = rare, .stall = seconds{200}, .longest_interval = hours{24}}) == 6320);
  CHECK(gap({.mtbf = rare, .stall = seconds{200}, .longest_interval = duration<double>(known)}) == 6320);
  CHECK(gap({.mtbf = rare, .stall = seconds{200}, .longest_interval = hours{-1}}) == 3600);
}

TEST_CASE("Daly saves a little more often than Young") {
  young first({.mtbf = cairn::known_mtbf(seconds{1000}), .stall = seconds{5}});
  daly second({.mtbf = cairn::known_mtbf(seconds{1000}), .stall = seconds{5}});
  driven::run one{.iteration = 0.01}, two = one;
  CHECK(one.steps(first, 100000).newest_gap() == 10000);
  CHECK(two.steps(second, 100000).newest_gap() == Approx(9669).margin(2));
}

TEST_CASE(
    "a stall that is not known is measured: a first save after a few steps, then at the interval for that stall") {
  young policy({.mtbf = cairn::known_mtbf(hours{4})});
  driven::run run{.iteration = 0.1, .cost = {.stall_seconds = 0.5, .background_seconds = 100}};
  run.steps(policy, 20000);
  CHECK(run.saves.front() == probe_steps);
  CHECK(run.newest_gap() == Approx(1200).margin(1));
}

TEST_CASE("what a save slows iterations down by counts as stall") {
  young policy({.mtbf = cairn::known_mtbf(hours{4})});
  driven::run run{.cost = {.stall_seconds = 0, .background_seconds = 5}};
  for (int i = 0; i < 20000; ++i) {
    const bool is_beside = !run.saves.empty() && run.now.step - run.saves.back() < 4;
    run.iteration = is_beside ? 1.25 : 1;
    run.now.is_saving = is_beside;
    run.step(policy);
  }
  CHECK(run.newest_gap() == Approx(std::sqrt(2 * 4 * 3600)).margin(1));
}

TEST_CASE("a job of many workers fails as much more often") {
  for (const double workers : {1.0, 4.0, 64.0}) {
    young policy({.mtbf = cairn::known_mtbf(hours{16}), .stall = seconds{1}});
    driven::run run{.iteration = 0.01, .workers = workers};
    run.steps(policy, 200000);
    CHECK(static_cast<double>(run.newest_gap()) == Approx(100 * std::sqrt(2 * 16 * 3600 / workers)).margin(2));
  }
}

TEST_CASE("failures and work without failures are learned from, across restarts") {
  const young fresh({.stall = seconds{1}});
  auto policy = fresh;
  cairn::schedule::mtbf_estimate expected;
  for (int failures = 0; failures < 50; ++failures) {
    driven::run run{.workers = 4};
    run.steps(policy, 1000);
    expected.worked(1000, 4);
    const auto memory = policy.remember();
    policy = fresh;
    policy.recall(memory);
    policy.restarted({.step = run.now.step, .away_seconds = 10});
    expected.restarted({.away_seconds = 10}, 4);
  }
  driven::run run{.iteration = 0.1};
  run.steps(policy, 5000);
  expected.worked(500);
  CHECK(expected.seconds() == Approx(4 * 1010).epsilon(0.1));
  CHECK(static_cast<double>(run.newest_gap()) * 0.1 == Approx(std::sqrt(2 * expected.seconds())).epsilon(0.02));

  auto peaceful = fresh, failed = fresh;
  peaceful.restarted({.step = 0, .after_failure = false});
  failed.restarted({.step = 0});
  driven::run undisturbed, disturbed;
  CHECK(undisturbed.steps(peaceful, 5000).newest_gap() > 2 * disturbed.steps(failed, 5000).newest_gap());
}

TEST_CASE("measured stalls are remembered: no probe after a restart") {
  const young fresh({.mtbf = cairn::known_mtbf(hours{4})});
  auto policy = fresh;
  driven::run run{.cost = {.stall_seconds = 0.5}};
  run.steps(policy, 1000);
  auto restored = fresh;
  restored.recall(policy.remember());
  restored.restarted({.step = 1000});
  driven::run next{.now = {.step = 1000, .saved_step = 1000}};
  next.steps(restored, 300);
  CHECK(next.saves.front() == 1120);
}

TEST_CASE("even intervals: where nobody tells what a save costs, saves get rarer and rarer, but never too rare") {
  young policy;
  driven::run run{.is_told = false};
  run.steps(policy, 40000);
  REQUIRE(run.saves.size() > 10);
  CHECK(std::vector<std::uint64_t>(run.saves.begin(), run.saves.begin() + 4) ==
        std::vector<std::uint64_t>{10, 20, 40, 80});
  CHECK(run.newest_gap() == 3600);
}

TEST_CASE("no second save while one runs") {
  young policy({.mtbf = cairn::known_mtbf(seconds{50}), .stall = seconds{1}});
  driven::run run;
  run.now.is_saving = true;
  run.steps(policy, 3599);
  CHECK(run.saves.empty());
  run.steps(policy, 1);
  CHECK(run.saves.size() == 1);
  run.now.is_saving = false;
  run.steps(policy, 100);
  CHECK(run.newest_gap() == 10);
}

TEST_CASE("hours in a queue after each failure are not taken for work") {
  const young fresh({.stall = seconds{1}});
  auto policy = fresh;
  for (int failures = 0; failures < 50; ++failures) {
    driven::run run;
    run.steps(policy, 590);
    const auto memory = policy.remember();
    policy = fresh;
    policy.recall(memory);
    policy.restarted({.step = run.now.step, .away_seconds = 3600});
  }
  driven::run run{.iteration = 0.1};
  run.steps(policy, 3000);
  CHECK(static_cast<double>(run.newest_gap()) * 0.1 == Approx(std::sqrt(2 * 610)).epsilon(0.06));
}
