// SPDX-License-Identifier: MIT
#include "cairn/schedule/policies.hpp"
#include "cairn/schedule/every.hpp"

#include <chrono>

#include "cairn/schedule/even_intervals.hpp"
#include "cairn/schedule/interval.hpp"
#include "catch.hpp"
#include "driven_run.hpp"

namespace {

using cairn::decision;
using cairn::save_kind;
using cairn::policies::any_of;
using cairn::policies::every;
using cairn::policies::every_steps;
using cairn::policies::young;
using std::chrono::seconds;
using steps = std::vector<std::uint64_t>;

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

}  // namespace

static_assert(cairn::policy<any_of>);

TEST_CASE("any_of: nothing that is observed trips it") {
  driven::survives(any_of{young(), every_steps{100}});
  driven::survives(any_of{young(), any_of{young()}});
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

TEST_CASE("no step is saved twice, even where a policy asks for that") {
  const cairn::moment again{.step = 100, .seconds = 100, .saved_step = 100, .saved_seconds = 100};
  CHECK_FALSE(any_of{counting{}}.should_save(again).save);
}

TEST_CASE("the default policy is the adaptive one: it saves soon, and remembers what that cost") {
  auto policy = cairn::default_policy();
  cairn::moment now;
  for (now.step = 1; now.step < cairn::schedule::probe_steps; ++now.step) {
    now.seconds += now.iteration_seconds = 1;
    CHECK_FALSE(policy.should_save(now));
  }
  now.seconds += now.iteration_seconds = 1;
  CHECK(policy.should_save(now));
  policy.saved({.step = now.step, .stall_seconds = 0.5});
  CHECK(policy.remember().contains("whole.stall"));
}
