// SPDX-License-Identifier: MIT
#include "cairn/run/policy_driver.hpp"

#include <cmath>
#include <csignal>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "catch.hpp"
#include "recording_policy.hpp"

using cairn::detail::plan_preempt;
using cairn::detail::policy_driver;
using cairn::detail::published_save;
using cairn::detail::save_timeline;
using cairn::detail::stopwatch;
using Catch::Approx;
using order = std::vector<std::string>;
using tests::recording_policy;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

const cairn::observer nobody;
cairn::detail::run_record unheard(nobody);

/// Lets a millisecond pass.
void work() {
  for (const stopwatch watch; watch.seconds() < 1e-3;) {
  }
}

published_save published_at(std::uint64_t step, double seconds = 3, bool synchronous = false) {
  cairn::save_report report;
  report.seconds = seconds;
  report.encode_seconds = 1;
  report.write_seconds = 2;
  report.bytes = 70;
  report.state_bytes = 100;
  return {.step = step,
          .report = std::make_shared<cairn::save_report>(report),
          .kind = cairn::save_kind::delta,
          .synchronous = synchronous};
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

struct plain_policy {
  static bool should_save(const cairn::moment&) { return true; }
};
struct only_restarted : plain_policy {
  void restarted(const cairn::restart&) {}
};

/// The restart that the policy of a process sees that continues from a checkpoint with these notes.
cairn::restart restart_with(cairn::policy_memory notes) {
  const recording_policy policy;
  policy_driver driver(policy);
  driver.restored(loaded(7, std::move(notes)), unheard);
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

TEST_CASE("an iteration does not include the pause before it") {
  const recording_policy policy;
  policy_driver driver(policy);
  for (int i = 0; i < 5; ++i) {
    double end = 0;
    {
      const policy_driver::pause stalled(driver);
      work();
      end = driver.seconds();
    }
    static_cast<void>(driver.ask({.step = 1}, false));
    const auto& now = policy.log->asked.back();
    CHECK(now.iteration_seconds <= now.seconds - end);
    work();
    static_cast<void>(driver.ask({.step = 2}, false));
    CHECK(policy.log->asked.back().iteration_seconds >= 1e-3);
  }
}

TEST_CASE("a pause ends when an exception leaves it too") {
  const recording_policy policy;
  policy_driver driver(policy);
  double end = 0;
  try {
    const policy_driver::pause stalled(driver);
    work();
    end = driver.seconds();
    throw 1;
  } catch (int) {
  }
  static_cast<void>(driver.ask({.step = 1}, false));
  CHECK(policy.log->asked[0].iteration_seconds <= policy.log->asked[0].seconds - end);
}

TEST_CASE("the newest checkpoint is that of the newest save that began, and that of the record when the save fails") {
  const recording_policy policy;
  policy_driver driver(policy);
  cairn::detail::run_record record(nobody);
  const auto ask = [&] {
    static_cast<void>(driver.ask({.step = 9}, false));
    return policy.log->asked.back();
  };
  CHECK(ask().saved_step == 0);
  driver.set_newest({.step = 4, .began = 1, .copied = 2});
  CHECK(driver.saved_step() == 4);
  CHECK(ask().saved_step == 4);
  CHECK(ask().saved_seconds == 2);
  driver.set_newest({.step = 6, .began = 7, .copied = 8});
  CHECK(ask().saved_step == 6);
  CHECK(ask().saved_seconds == 8);
  record.published({.step = 4, .seconds = 2});
  driver.fall_back(record);
  CHECK(ask().saved_step == 4);
  CHECK(ask().saved_seconds == 2);
  driver.fall_back(cairn::detail::run_record(nobody));
  CHECK(ask().saved_step == 0);
  CHECK(ask().saved_seconds == 0);
}

TEST_CASE("a published save is reported with its costs, once, if it is the newest one") {
  const recording_policy policy;
  policy_driver driver(policy);
  cairn::detail::run_record record(nobody);
  driver.set_newest({.step = 4, .stall_seconds = 0.125});
  record.published({.step = 4});  // of an earlier process
  driver.learn(record);
  record.published(published_at(3));
  driver.learn(record);
  CHECK(policy.log->saved.empty());
  record.published(published_at(4));
  driver.learn(record);
  driver.learn(record);
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

TEST_CASE("background time does not include what the trainer waited for") {
  const recording_policy policy;
  policy_driver driver(policy);
  cairn::detail::run_record record(nobody);
  const auto background_of = [&](const save_timeline& times, const published_save& published) {
    driver.set_newest(times);
    record.published(published);
    driver.learn(record);
    return policy.log->saved.back().background_seconds;
  };
  CHECK(background_of({.step = 4, .stall_seconds = 3.5}, published_at(4, 3, true)) == 0);  // in the foreground
  CHECK(policy.log->saved.back().stall_seconds == 3.5);
  CHECK(background_of({.step = 5, .began = 10, .copied = 11}, published_at(5, 3)) == 2);  // copied in parts
  CHECK(background_of({.step = 6, .began = 10, .copied = 14}, published_at(6, 3)) == 0);
  CHECK(background_of({.step = 7, .began = 10, .copied = 10}, published_at(7, 3)) == 3);
}

TEST_CASE("a run that continues recalls, then is told that it restarted, and its clock starts again") {
  const recording_policy policy;
  policy_driver driver(policy);
  work();
  const stopwatch outer;
  const cairn::policy_memory notes{{"mine", {1, 2}}, {"copied_at", {wall_clock() - 60}}, {"in_peace", {0}}};
  driver.restored(loaded(7, notes), unheard);
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

TEST_CASE(
    "a restart is after a failure unless the run could have ended with its checkpoint; without a note none is known") {
  CHECK(restart_with({{"in_peace", {0}}}).after_failure);
  for (const cairn::policy_memory& notes : {cairn::policy_memory{{"in_peace", {1}}},
                                            {},
                                            {{"mine", {3}}},
                                            {{"in_peace", {}}},
                                            {{"in_peace", {0, 0}}},
                                            {{"in_peace", {no_number}}}})
    CHECK_FALSE(restart_with(notes).after_failure);
}

TEST_CASE("the time away is a number of seconds whatever the wall clock says") {
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
  driver.set_newest({.step = 8});
  driver.restored(loaded(8, {{"mine", {1}}, {"copied_at", {wall_clock() - 60}}, {"in_peace", {0}}}), unheard);
  CHECK(policy.log->order == order{"asked", "restarted"});
  CHECK_FALSE(policy.log->restarted[0].after_failure);
  CHECK(policy.log->restarted[0].away_seconds == 0);
  static_cast<void>(driver.ask({.step = 9}, false));
  CHECK(policy.log->asked.back().saved_step == 8);
  CHECK(policy.log->asked.back().saved_seconds == 0);
  CHECK(policy.log->asked.back().iteration_seconds == policy.log->asked.back().seconds);
}

TEST_CASE("the event of a hook that throws has the path of the store") {
  std::vector<cairn::event> events;
  const cairn::observer note = [&](const cairn::event& what) { events.push_back(what); };
  cairn::detail::run_record record(note);
  recording_policy policy;
  policy.remembers = []() -> cairn::policy_memory { throw std::runtime_error("no luck"); };
  static_cast<void>(policy_driver(policy, "store").notes(7, true, record));
  REQUIRE(events.size() == 1);
  CHECK(events[0].what == cairn::event::kind::failed);
  CHECK(events[0].checkpoint == "store");
  CHECK(events[0].step == 7);
}

TEST_CASE("notes are what the policy remembers, when that was, and whether the run may end there") {
  recording_policy policy;
  policy.remembers = [] { return cairn::policy_memory{{"mine", {1, 2}}}; };
  const policy_driver driver(policy);
  for (const bool ends_run : {false, true}) {
    const double before = wall_clock();
    auto notes = driver.notes(7, ends_run, unheard);
    CHECK(notes.size() == 3);
    CHECK(notes["mine"] == std::vector<double>{1, 2});
    CHECK(notes["in_peace"] == std::vector<double>{ends_run ? 1.0 : 0.0});
    REQUIRE(notes["copied_at"].size() == 1);
    CHECK(notes["copied_at"][0] >= before);
    CHECK(notes["copied_at"][0] <= wall_clock());
    CHECK(restart_with(notes).after_failure == !ends_run);
  }
}

TEST_CASE("a policy that remembers nothing and has no restarted leaves no notes") {
  CHECK(policy_driver(plain_policy()).notes(7, false, unheard).empty());
}

TEST_CASE(
    "a policy with restarted that remembers nothing: the notes say when the run stopped, and whether it may have "
    "ended") {
  for (const auto& policy : {cairn::any_policy(only_restarted()), cairn::any_policy(recording_policy())})
    for (const bool ends_run : {false, true}) {
      const auto notes = policy_driver(policy).notes(7, ends_run, unheard);
      CHECK(notes.size() == 2);
      CHECK(notes.contains("copied_at"));
      CHECK(restart_with(notes).after_failure == !ends_run);
    }
}

TEST_CASE(
    "a retry waits as long as the failed save took, twice as long after each further failure, at most ten minutes") {
  cairn::detail::retry_delay retry;
  CHECK(retry.is_over(0));
  retry.failed(10, 13);
  CHECK_FALSE(retry.is_over(15.9));
  CHECK(retry.is_over(16));
  retry.failed(16, 17);  // faster this time
  CHECK_FALSE(retry.is_over(22.9));
  CHECK(retry.is_over(23));
  retry.failed(23, 43);  // slower
  CHECK_FALSE(retry.is_over(62.9));
  CHECK(retry.is_over(63));
  double now = 63;
  for (int i = 0; i < 2000; ++i) retry.failed(now, now);
  CHECK_FALSE(retry.is_over(now + 599.9));
  CHECK(retry.is_over(now + 600));
  retry.failed(0, 10'000);
  CHECK(retry.is_over(10'600));
  retry.failed(0, 20'000, 7);  // the patience ends in 7 seconds
  CHECK_FALSE(retry.is_over(20'006.9));
  CHECK(retry.is_over(20'007));
  retry.failed(0, 30'000, -1);  // it has ended
  CHECK_FALSE(retry.is_over(30'599.9));
}

TEST_CASE("after a failed save none may start until the retry is due, a save is published or the run is restored") {
  const recording_policy policy;
  policy_driver driver(policy);
  cairn::detail::run_record record(nobody);
  CHECK(driver.may_save());
  const auto fail_in_background = [&] {
    driver.set_newest({.step = 3, .began = driver.seconds() - 100});
    driver.delay_retry(true);
    CHECK_FALSE(driver.may_save());
  };
  fail_in_background();
  record.published(published_at(4));
  driver.learn(record);
  CHECK(driver.may_save());
  fail_in_background();
  driver.restored(loaded(3), unheard);
  CHECK(driver.may_save());
  static_cast<void>(driver.ask({.step = 5}, false));
  work();
  const double before = driver.seconds();
  driver.delay_retry(false);  // at least the millisecond of work
  while (!driver.may_save()) work();
  CHECK(driver.seconds() - before >= 1e-3);
}

namespace {

/// A save of 1000 bytes of state, which became `bytes` bytes. It took `seconds`, of which writing took `write_seconds`.
cairn::detail::published_save saved(double seconds, double write_seconds, std::uint64_t bytes, double held_back = 0) {
  cairn::save_report report;
  report.bytes = bytes;
  report.seconds = seconds;
  report.state_bytes = 1000;
  report.write_seconds = write_seconds;
  return {.report = std::make_shared<cairn::save_report>(report), .held_back = held_back};
}

}  // namespace

TEST_CASE("nothing known: the running save gets half of the time") {
  for (const double left : {30.0, 1.0, 0.0, -5.0}) {
    const auto plan = plan_preempt(left, 1000, std::nullopt);
    CHECK(plan.grace_seconds == (left > 0 ? left / 2 : 0));
    CHECK_FALSE(plan.as_raw);
    CHECK(plan_preempt(left, 1000, cairn::detail::published_save{}).grace_seconds == plan.grace_seconds);
  }
}

TEST_CASE("enough time: it gets what the newer state does not need, by its size") {
  CHECK(plan_preempt(30, 1000, saved(4, 2, 500)).grace_seconds == 26);
  CHECK(plan_preempt(30, 2000, saved(4, 2, 500)).grace_seconds == 22);
  CHECK_FALSE(plan_preempt(30, 2000, saved(4, 2, 500)).as_raw);
}

TEST_CASE("what a limit on bytes per second has held back does not count: there is none then") {
  CHECK(plan_preempt(30, 1000, saved(104, 102, 500, 100)).grace_seconds == 26);
  CHECK_FALSE(plan_preempt(30, 1000, saved(104, 102, 500, 100)).as_raw);
  CHECK(plan_preempt(30, 1000, saved(4, 2, 500, 100)).grace_seconds == 30);
}

TEST_CASE("not enough to encode: the state is stored as it is where that is faster") {
  const auto slow_codec = plan_preempt(3, 1000, saved(4, 1, 900));
  CHECK(slow_codec.as_raw);
  CHECK(slow_codec.grace_seconds == Approx(3 - 1000.0 / 900));
  const auto slow_disk = plan_preempt(3, 1000, saved(4, 3.5, 100));  // as it is it would take 35 s
  CHECK_FALSE(slow_disk.as_raw);
  CHECK(slow_disk.grace_seconds == 3);  // the newer state cannot be safe in time: rather the older one
}

TEST_CASE("what asks to stop is named") {
  CHECK(cairn::detail::reason_to_stop(SIGTERM).find("signal " + std::to_string(SIGTERM) + ", ") == 0);
  CHECK(cairn::detail::reason_to_stop(cairn::detail::time_limit) == "the time limit");
}
