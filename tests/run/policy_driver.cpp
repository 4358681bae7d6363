#include "cairn/run/policy_driver.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "recording_policy.hpp"

using cairn::detail::policy_driver;
using cairn::detail::published_save;
using cairn::detail::stopwatch;
using Catch::Approx;
using tests::recording_policy;
using order = std::vector<std::string>;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

/// Lets the clock go on.
void work() {
  for (const stopwatch watch; watch.seconds() < 1e-3;) {
  }
}

published_save published_at(std::uint64_t step, double seconds = 3, bool in_front = false) {
  cairn::save_report report;
  report.seconds = seconds;
  report.encode_seconds = 1;
  report.write_seconds = 2;
  report.bytes = 70;
  report.state_bytes = 100;
  return {.step = step, .report = report, .kind = cairn::save_kind::delta, .in_front = in_front};
}

cairn::load_report loaded(std::uint64_t step, cairn::policy_memory notes = {}) {
  cairn::load_report report;
  report.step = step;
  report.seconds = 0.5;
  report.notes = std::move(notes);
  return report;
}

double wall_clock() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// What a process is told that goes on from a checkpoint with these notes.
cairn::restart restart_with(cairn::policy_memory notes) {
  const recording_policy policy;
  policy_driver driver(policy);
  driver.restored(loaded(7, std::move(notes)));
  REQUIRE(policy.log->restarted.size() == 1);
  return policy.log->restarted[0];
}

}  // namespace

TEST_CASE("a moment has what the trainer says of its step, and seconds since the run began") {
  const recording_policy policy;
  const stopwatch outer;
  policy_driver driver(policy);
  work();
  CHECK_FALSE(driver.ask({.step = 5, .loss = 0.25, .workers = 3}, true));
  CHECK_FALSE(driver.ask({.step = 6}, false));
  const auto& asked = policy.log->asked;
  REQUIRE(asked.size() == 2);
  CHECK(asked[0].step == 5);
  CHECK(asked[0].loss == 0.25);
  CHECK(asked[0].workers == 3);
  CHECK(asked[0].is_saving);
  CHECK(asked[0].saved_step == 0);
  CHECK(asked[0].saved_seconds == 0);
  CHECK(asked[0].seconds >= 1e-3);
  CHECK(asked[0].iteration_seconds == asked[0].seconds);
  CHECK(asked[1].step == 6);
  CHECK_FALSE(asked[1].loss);
  CHECK(asked[1].workers == 1);
  CHECK_FALSE(asked[1].is_saving);
  CHECK(asked[1].seconds >= asked[0].seconds);
  CHECK(asked[1].seconds <= outer.seconds());
  CHECK(asked[1].iteration_seconds == asked[1].seconds - asked[0].seconds);
}

TEST_CASE("an iteration is what has passed since the training went on") {
  const recording_policy policy;
  policy_driver driver(policy);
  for (int i = 0; i < 5; ++i) {
    work();  // a stall
    const stopwatch outer;
    driver.resume_training();
    const stopwatch inner;
    work();
    const double least = inner.seconds();
    static_cast<void>(driver.ask({.step = 1}, false));
    const double most = outer.seconds();
    CHECK(policy.log->asked.back().iteration_seconds >= least);
    CHECK(policy.log->asked.back().iteration_seconds <= most);
  }
}

TEST_CASE("the newest checkpoint is that of the save that began last, and the one before when that comes to nothing") {
  const recording_policy policy;
  policy_driver driver(policy);
  const auto ask = [&] {
    static_cast<void>(driver.ask({.step = 9}, false));
    return policy.log->asked.back();
  };
  work();
  const auto before = ask();
  driver.began(4);
  CHECK(driver.saved_step() == 4);
  const double begun = driver.saved_seconds();
  CHECK(begun >= before.seconds);
  work();
  CHECK(ask().saved_step == 4);
  CHECK(ask().saved_seconds == begun);
  CHECK(ask().seconds > begun);
  driver.began(6);
  CHECK(ask().saved_step == 6);
  CHECK(ask().saved_seconds > begun);
  driver.fall_back({.step = 4, .seconds = begun});
  CHECK(ask().saved_step == 4);
  CHECK(ask().saved_seconds == begun);
  driver.fall_back({});
  CHECK(ask().saved_step == 0);
  CHECK(ask().saved_seconds == 0);
}

TEST_CASE("a published save is told with its costs, that of the newest save alone") {
  const recording_policy policy;
  policy_driver driver(policy);
  driver.began(4);
  driver.waited(0.125);
  driver.published({.step = 4});  // of an earlier process
  driver.published(published_at(3));
  CHECK(policy.log->saved.empty());
  driver.published(published_at(4));
  REQUIRE(policy.log->saved.size() == 1);
  const auto& cost = policy.log->saved[0];
  CHECK(cost.step == 4);
  CHECK(cost.kind == cairn::save_kind::delta);
  CHECK(cost.stall_seconds == 0.125);
  CHECK(cost.background_seconds == 3);
  CHECK(cost.encode_seconds == 1);
  CHECK(cost.write_seconds == 2);
  CHECK(cost.bytes == 70);
  CHECK(cost.state_bytes == 100);
}

TEST_CASE("nothing of a save is behind the training when the trainer has waited for all of it") {
  const recording_policy policy;
  policy_driver driver(policy);
  driver.began(4);
  driver.waited(3.5);
  driver.published(published_at(4, 3, true));
  REQUIRE(policy.log->saved.size() == 1);
  CHECK(policy.log->saved[0].stall_seconds == 3.5);
  CHECK(policy.log->saved[0].background_seconds == 0);
}

TEST_CASE("what the trainer has waited for is not behind the training, and no work since the checkpoint") {
  const recording_policy policy;
  policy_driver driver(policy);
  const stopwatch outer;
  driver.began(4);
  const double begun = driver.saved_seconds();
  work();
  driver.awaited();
  const double most = outer.seconds();
  CHECK(driver.saved_seconds() >= begun + 1e-3);
  driver.published(published_at(4, 3));
  CHECK(policy.log->saved.back().background_seconds <= 3 - 1e-3);
  CHECK(policy.log->saved.back().background_seconds >= 3 - most);
  driver.published(published_at(4, 1e-6));  // clocks are read one after the other
  CHECK(policy.log->saved.back().background_seconds == 0);
  driver.began(5);
  driver.published(published_at(5, 3));
  CHECK(policy.log->saved.back().background_seconds == 3);
}

TEST_CASE("a run that goes on: it recalls, then it is told, and its clock begins anew") {
  const recording_policy policy;
  policy_driver driver(policy);
  work();
  const stopwatch outer;
  const cairn::policy_memory notes{{"mine", {1, 2}}, {"copied_at", {wall_clock() - 60}}, {"in_peace", {0}}};
  driver.restored(loaded(7, notes));
  CHECK(policy.log->order == order{"recalled", "restarted"});
  CHECK(policy.log->recalled[0] == notes);
  CHECK(policy.log->restarted[0].step == 7);
  CHECK(policy.log->restarted[0].restore_seconds == 0.5);
  CHECK(policy.log->restarted[0].after_failure);
  CHECK(policy.log->restarted[0].away_seconds > 59);
  CHECK(policy.log->restarted[0].away_seconds < 3600);
  static_cast<void>(driver.ask({.step = 8}, false));
  const auto& now = policy.log->asked[0];
  CHECK(now.saved_step == 7);
  CHECK(now.saved_seconds == 0);
  CHECK(now.seconds <= outer.seconds());
  CHECK(now.iteration_seconds <= now.seconds);
}

TEST_CASE("a failure is one unless the checkpoint was made in peace; without a note nobody knows of any") {
  CHECK(restart_with({{"in_peace", {0}}}).after_failure);
  for (const cairn::policy_memory& notes : {cairn::policy_memory{{"in_peace", {1}}},
                                            {},
                                            {{"mine", {3}}},
                                            {{"in_peace", {}}},
                                            {{"in_peace", {0, 0}}},
                                            {{"in_peace", {no_number}}}})
    CHECK_FALSE(restart_with(notes).after_failure);
}

TEST_CASE("how long a run was away is a number of seconds whatever the clock on the wall does") {
  for (const std::vector<double>& copied : {std::vector<double>{wall_clock() + 1e6},
                                            {infinite},
                                            {-infinite},
                                            {no_number},
                                            {},
                                            {1, 2},
                                            {std::numeric_limits<double>::max()}}) {
    CHECK(restart_with({{"copied_at", copied}}).away_seconds == 0);
  }
  CHECK(restart_with({}).away_seconds == 0);
  CHECK(restart_with({{"copied_at", {wall_clock() - 1e6}}}).away_seconds == Approx(1e6));
}

TEST_CASE("a process that goes back to a checkpoint of its own recalls nothing and counts no failure") {
  const recording_policy policy;
  policy_driver driver(policy);
  work();
  static_cast<void>(driver.ask({.step = 8}, false));
  driver.began(8);
  driver.restored(loaded(8, {{"mine", {1}}, {"copied_at", {wall_clock() - 60}}, {"in_peace", {0}}}));
  CHECK(policy.log->order == order{"asked", "restarted"});
  CHECK_FALSE(policy.log->restarted[0].after_failure);
  CHECK(policy.log->restarted[0].away_seconds == 0);
  static_cast<void>(driver.ask({.step = 9}, false));
  CHECK(policy.log->asked.back().saved_step == 8);
  CHECK(policy.log->asked.back().saved_seconds == 0);
  CHECK(policy.log->asked.back().iteration_seconds == policy.log->asked.back().seconds);
}

TEST_CASE("notes are what the policy remembers, when that was, and whether the run may end there") {
  recording_policy policy;
  policy.remembers = [] { return cairn::policy_memory{{"mine", {1, 2}}}; };
  const policy_driver driver(policy);
  for (const bool may_be_last : {false, true}) {
    const double before = wall_clock();
    auto notes = driver.notes(may_be_last);
    CHECK(notes.size() == 3);
    CHECK(notes["mine"] == std::vector<double>{1, 2});
    CHECK(notes["in_peace"] == std::vector<double>{may_be_last ? 1.0 : 0.0});
    REQUIRE(notes["copied_at"].size() == 1);
    CHECK(notes["copied_at"][0] >= before);
    CHECK(notes["copied_at"][0] <= wall_clock());
    CHECK(restart_with(notes).after_failure == !may_be_last);
  }
}

TEST_CASE("a policy that remembers nothing leaves no notes") {
  CHECK(policy_driver(recording_policy()).notes(true).empty());
  CHECK(policy_driver(cairn::any_policy([] {
          struct plain {
            static bool should_save(const cairn::moment&) { return true; }
          };
          return plain();
        }()))
            .notes(false)
            .empty());
}
