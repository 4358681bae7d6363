// SPDX-License-Identifier: MIT
#include "cairn/schedule/combine.hpp"

#include <chrono>
#include <limits>

#include "cairn/schedule/even_intervals.hpp"
#include "cairn/schedule/every.hpp"
#include "catch.hpp"
#include "driven_run.hpp"

namespace {

using cairn::decision;
using cairn::save_kind;
using cairn::policies::any_of;
using cairn::policies::bounded_overhead;
using cairn::policies::every;
using cairn::policies::every_steps;
using cairn::policies::young;
using std::chrono::seconds;
using steps = std::vector<std::uint64_t>;

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

/// Asks at the multiples of some steps for a kind, and counts what it is told.
struct counting {
  std::uint64_t period = 1;
  std::optional<save_kind> kind{};
  double saves = 0, restarts = 0, asked = 0;

  decision should_save(const cairn::moment& now) {
    asked += 1;
    return {now.step % period == 0, kind};
  }
  void saved(const cairn::save_cost&) { saves += 1; }
  void restarted(const cairn::restart&) { restarts += 1; }
  cairn::policy_memory remember() const { return {{"counted", {saves, restarts, asked}}}; }
  void recall(const cairn::policy_memory& memory) {
    if (!memory.contains("counted")) return;
    saves = memory.at("counted")[0];
    restarts = memory.at("counted")[1];
    asked = memory.at("counted")[2];
  }
};

/// The part of the training time that saves have taken.
double overhead(const driven::run& run) {
  const auto saves = static_cast<double>(run.saves.size()), trained = static_cast<double>(run.now.step) * run.iteration;
  return saves * run.cost.stall_seconds / trained;
}

}  // namespace

static_assert(cairn::policy<any_of> && cairn::policy<bounded_overhead>);

TEST_CASE("any_of and bounded_overhead: nothing that is observed trips them") {
  driven::survives(any_of{young(), every_steps{100}});
  driven::survives(any_of{young(), any_of{young()}, bounded_overhead({}, young())});
  for (const double percent : {3.5, 0.0, -1.0, no_number, std::numeric_limits<double>::infinity(), 1e-300, 1e300}) {
    driven::survives(bounded_overhead({.percent = percent}, young()), 20);
    driven::survives(bounded_overhead({.percent = percent}, every_steps{1}), 20);
  }
}

TEST_CASE("any_of saves when one of its policies does") {
  any_of policy{every_steps{6}, every_steps{10}, every{seconds{25}}};
  driven::run run;
  CHECK(run.steps(policy, 100).saves ==
        steps{6, 10, 12, 18, 20, 24, 30, 36, 40, 42, 48, 50, 54, 60, 66, 70, 72, 78, 80, 84, 90, 96, 100});
  any_of none{};
  CHECK_FALSE(none.should_save({.step = 7}).save);
}

TEST_CASE("any_of takes the kind of the first policy that saves and asks for one") {
  any_of policy{counting{2}, counting{3, save_kind::raw}, counting{5, save_kind::delta}};
  const auto at = [&](std::uint64_t step) { return policy.should_save({.step = step}); };
  CHECK(at(2).save);
  CHECK_FALSE(at(2).kind);
  CHECK(at(3).kind == save_kind::raw);
  CHECK(at(10).kind == save_kind::delta);
  CHECK(at(30).kind == save_kind::raw);
  CHECK_FALSE(at(7).save);
  CHECK_FALSE(at(7).kind);
}

TEST_CASE("any_of asks and tells all, and keeps apart what they remember") {
  any_of policy{counting{2}, counting{3}};
  (void)policy.should_save({.step = 2});
  policy.saved({});
  policy.restarted({});
  policy.saved({});
  CHECK(policy.remember() == cairn::policy_memory{{"0.counted", {2, 1, 1}}, {"1.counted", {2, 1, 1}}});
  any_of restored{counting{2}, counting{3}, any_of{counting{5}}};
  restored.recall(
      {{"0.counted", {1, 2, 3}}, {"1.counted", {4, 5, 6}}, {"2.0.counted", {7, 8, 9}}, {"counted", {0, 0, 0}}});
  CHECK(restored.remember() ==
        cairn::policy_memory{{"0.counted", {1, 2, 3}}, {"1.counted", {4, 5, 6}}, {"2.0.counted", {7, 8, 9}}});
}

TEST_CASE("within its budget a policy does what it wants, as what it wants") {
  bounded_overhead policy({.percent = 10}, every_steps{20});
  driven::run run{.cost = {.stall_seconds = 1}};
  CHECK(run.steps(policy, 100).saves == steps{20, 40, 60, 80, 100});
  bounded_overhead kinds({}, counting{1, save_kind::raw});
  CHECK(kinds.should_save({.step = 1}).kind == save_kind::raw);
}

TEST_CASE("what would pass the budget waits until it does not; the first save never does") {
  bounded_overhead policy({.percent = 10}, every_steps{1});
  driven::run run{.cost = {.stall_seconds = 2}};
  CHECK(run.steps(policy, 100).saves == steps{1, 40, 60, 80, 100});
}

TEST_CASE("saves never take more than their part of the time, whatever they cost and who asks for them") {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> decades(-2, 2);
  for (int i = 0; i < 100; ++i) {
    const double percent = std::pow(10, decades(random) / 2);
    bounded_overhead policy({.percent = percent}, any_of{every_steps{7}, every{seconds{3}}});
    driven::run run{.iteration = std::pow(10, decades(random) - 1),
                    .cost = {.stall_seconds = std::pow(10, decades(random) - 1)}};
    run.step(policy);
    for (int step = 0; step < 2000; ++step) {
      if (!run.step(policy) || run.saves.size() < 2 || static_cast<double>(run.newest_gap()) * run.iteration >= 3600)
        continue;
      CHECK(overhead(run) <= percent / 100 * (1 + 1e-9));
    }
    CHECK_FALSE(run.saves.empty());
  }
}

TEST_CASE("no step is saved twice, even where a policy asks for that") {
  const cairn::moment again{.step = 100, .seconds = 100, .saved_step = 100, .saved_seconds = 100};
  for (const auto& inner : {cairn::any_policy(counting{}), cairn::any_policy(any_of{counting{}})}) {
    bounded_overhead policy({.percent = 10}, inner);
    driven::run run{.cost = {.stall_seconds = 0.01}};
    CHECK(run.steps(policy, 100).saves.size() == 100);
    CHECK_FALSE(policy.should_save(again).save);
    CHECK_FALSE(bounded_overhead({}, inner).should_save(again).save);
  }
  CHECK_FALSE(any_of{counting{}}.should_save(again).save);
}

TEST_CASE("where nobody tells what a save costs, saves get rarer and rarer, but never too rare") {
  bounded_overhead policy({}, every_steps{1});
  driven::run run{.is_told = false};
  run.steps(policy, 9000);
  CHECK(steps(run.saves.begin(), run.saves.begin() + 5) == steps{1, 2, 4, 8, 16});
  CHECK(run.newest_gap() <= 3600);
}

TEST_CASE("what a save slows iterations down by is in the budget") {
  bounded_overhead policy({.percent = 10}, every_steps{1});
  driven::run run{.cost = {.stall_seconds = 0, .background_seconds = 4}};
  for (int i = 0; i < 2000; ++i) {
    const bool is_beside = !run.saves.empty() && run.now.step - run.saves.back() < 4;
    run.iteration = is_beside ? 1.25 : 1;
    run.now.is_saving = is_beside;
    run.step(policy);
  }
  CHECK(run.newest_gap() == Catch::Approx(8).margin(1));
}

TEST_CASE("no budget leaves the first save and one per hour") {
  for (const double percent : {0.0, -3.5, no_number}) {
    bounded_overhead policy({.percent = percent}, every_steps{5});
    driven::run run{.iteration = 10, .cost = {.stall_seconds = 0.001}};
    CHECK(run.steps(policy, 1000).saves == steps{5, 365, 725});
  }
}

TEST_CASE("a budget is kept across restarts, and all of it is told to the inner policy") {
  bounded_overhead first({.percent = 10}, counting{});
  driven::run run{.cost = {.stall_seconds = 2}};
  run.steps(first, 50);
  CHECK(run.saves == steps{1, 40});
  bounded_overhead second({.percent = 10}, counting{});
  second.recall(first.remember());
  second.restarted({.step = 50});
  CHECK(second.remember().at("inner.counted") == std::vector<double>{2, 1, 50});
  driven::run next{.cost = {.stall_seconds = 2}, .now = {.step = 50, .saved_step = 50}};
  CHECK(next.steps(second, 50).saves == steps{60, 80, 100});
}
