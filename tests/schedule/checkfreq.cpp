// SPDX-License-Identifier: MIT
#include "cairn/schedule/checkfreq.hpp"

#include "catch.hpp"
#include "driven_run.hpp"

namespace {

using cairn::policies::checkfreq;

constexpr double infinite = std::numeric_limits<double>::infinity();

/// Iterations from save to save in the long run.
std::uint64_t gap(checkfreq policy, driven::run run, std::uint64_t steps = 10000) {
  return run.steps(policy, steps).newest_gap();
}

}  // namespace

static_assert(cairn::policy<checkfreq>);

TEST_CASE("CheckFreq: nothing that is observed trips it") {
  driven::survives(checkfreq());
  for (const double budget : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), infinite, 1e-300, 1e300})
    driven::survives(checkfreq({.budget_percent = budget, .profile_steps = 0}), 10);
}

TEST_CASE("CheckFreq: the first checkpoint ends the profile") {
  for (const std::uint64_t profile : {1U, 30U, 100U}) {
    checkfreq policy({.profile_steps = profile});
    driven::run run{.now = {.step = 500, .saved_step = 500}};
    run.steps(policy, 400);
    CHECK(run.saves.front() == 500 + profile);
  }
}

TEST_CASE("CheckFreq: where stalls are small, as often as one checkpoint can follow the other") {
  CHECK(gap(checkfreq(), {.iteration = 0.25, .cost = {.stall_seconds = 0.001, .background_seconds = 10}}) == 40);
  CHECK(gap(checkfreq(), {.iteration = 0.25, .cost = {.stall_seconds = 0.001, .background_seconds = 10.1}}) == 41);
  CHECK(gap(checkfreq(), {.iteration = 0.25, .cost = {.stall_seconds = 0, .background_seconds = 0}}) == 1);
}

TEST_CASE("CheckFreq: where stalls are not small, as often as the budget allows") {
  const driven::run blocking{.iteration = 0.5, .cost = {.stall_seconds = 1.6}};
  CHECK(gap(checkfreq(), blocking) == 92);  // 1.6 / (0.035 * 0.5) = 91.4
  CHECK(gap(checkfreq({.budget_percent = 10}), blocking) == 32);
  CHECK(gap(checkfreq({.budget_percent = 1000}), blocking) == 1);
}

TEST_CASE("CheckFreq: stalls never pass the budget, whatever they are, but by what a checkpoint per hour takes") {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> decades(-3, 1);
  for (int i = 0; i < 50; ++i) {
    checkfreq policy;
    driven::run run{.iteration = std::pow(10, decades(random)),
                    .cost = {.stall_seconds = std::pow(10, decades(random))}};
    run.steps(policy, 30);  // the profile
    const auto profiled = run.saves.size();
    run.steps(policy, 5000);
    const double stalls = static_cast<double>(run.saves.size() - profiled) * run.cost.stall_seconds;
    const double trained = 5000 * run.iteration, hourly = run.cost.stall_seconds * trained / 3600;
    INFO("stall " << run.cost.stall_seconds << ", iteration " << run.iteration);
    CHECK(stalls <= 0.035 * trained + hourly);
  }
}

TEST_CASE("CheckFreq: what a checkpoint slows iterations down by counts as overhead") {
  checkfreq policy;
  driven::run run{.cost = {.stall_seconds = 0, .background_seconds = 5}};
  for (int i = 0; i < 3000; ++i) {
    const bool is_beside = !run.saves.empty() && run.now.step - run.saves.back() < 4;
    run.iteration = is_beside ? 1.25 : 1;
    run.now.is_saving = is_beside;
    run.step(policy);
  }
  CHECK(run.newest_gap() == 29);  // 5 seconds of saving take 1: 28.6
}

TEST_CASE("CheckFreq: follows iterations and checkpoints that get dearer or cheaper") {
  checkfreq policy;
  driven::run run{.iteration = 1, .cost = {.stall_seconds = 0.35}};
  CHECK(run.steps(policy, 2000).newest_gap() == 10);
  run.cost.stall_seconds = 0.7;
  CHECK(run.steps(policy, 4000).newest_gap() == 20);
  run.iteration = 2;
  CHECK(run.steps(policy, 4000).newest_gap() == 10);
  run.cost.stall_seconds = 0.07;
  CHECK(run.steps(policy, 4000).newest_gap() == Approx(1).margin(1));
}

TEST_CASE("CheckFreq: no second checkpoint while one is saved, nor one of the same step") {
  checkfreq policy;
  driven::run run{.cost = {.stall_seconds = 0, .background_seconds = 5}};
  CHECK(run.steps(policy, 100).newest_gap() == 5);
  run.now.is_saving = true;
  const auto saves = run.saves.size();
  CHECK(run.steps(policy, 50).saves.size() == saves);
  run.now.is_saving = false;
  CHECK(run.steps(policy, 1).saves.size() == saves + 1);
  CHECK_FALSE(policy.should_save(run.now));
}

TEST_CASE("CheckFreq: no budget leaves one checkpoint per hour besides the profile's") {
  for (const double budget : {0.0, -3.5, std::numeric_limits<double>::quiet_NaN()}) {
    checkfreq policy({.budget_percent = budget});
    driven::run run{.iteration = 10, .cost = {.stall_seconds = 0.001}};
    run.steps(policy, 1000);
    CHECK(run.saves == std::vector<std::uint64_t>{30, 390, 750});
  }
}

TEST_CASE("CheckFreq: what was profiled is remembered") {
  checkfreq first;
  driven::run run{.iteration = 0.5, .cost = {.stall_seconds = 1.6}};
  run.steps(first, 1000);
  checkfreq second;
  CHECK(second.iterations() == infinite);
  second.recall(first.remember());
  CHECK(second.iterations() == 92);
  driven::run next{.iteration = 0.5, .now = {.step = 1000, .saved_step = 1000}};
  CHECK(next.steps(second, 100).saves.front() == 1092);
}

TEST_CASE("CheckFreq: rare long stalls count in full for the budget") {
  cairn::policies::checkfreq policy;
  driven::run run{.iteration = 0.1};
  double taken = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    run.cost.stall_seconds = run.saves.size() % 10 == 9 ? 10 : 0.1;
    if (run.step(policy)) taken += run.cost.stall_seconds;
  }
  CHECK(run.saves.size() > 200);
  CHECK(taken <= 1.1 * 0.035 * run.now.seconds);
}
