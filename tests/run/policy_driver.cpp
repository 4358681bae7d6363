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
  policy_driver driver(policy, "store");
  driver.restored(loaded(7, std::move(notes)), unheard);
  REQUIRE(policy.log->restarted.size() == 1);
  return policy.log->restarted[0];
}

}  // namespace

TEST_CASE(
    "a restart is after a failure unless the run could have ended with its checkpoint; without a note none is known") {
  CHECK(restart_with({{"ended", {0}}}).after_failure);
  for (const cairn::policy_memory& notes : {cairn::policy_memory{{"ended", {1}}},
                                            {},
                                            {{"mine", {3}}},
                                            {{"ended", {}}},
                                            {{"ended", {0, 0}}},
                                            {{"ended", {no_number}}}})
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

TEST_CASE("a policy that remembers nothing and has no restarted leaves no notes") {
  CHECK(policy_driver(plain_policy(), "store").notes(7, false, unheard).empty());
}

TEST_CASE(
    "a retry waits as long as the failed save took, twice as long after each further failure, at most ten minutes") {
  cairn::detail::retry_delay retry;
  CHECK(retry.is_over(0));
  retry.start_delay(10, 13);
  CHECK_FALSE(retry.is_over(15.9));
  CHECK(retry.is_over(16));
  retry.start_delay(16, 17);  // faster this time
  CHECK_FALSE(retry.is_over(22.9));
  CHECK(retry.is_over(23));
  retry.start_delay(23, 43);  // slower
  CHECK_FALSE(retry.is_over(62.9));
  CHECK(retry.is_over(63));
  double now = 63;
  for (int i = 0; i < 2000; ++i) retry.start_delay(now, now);
  CHECK_FALSE(retry.is_over(now + 599.9));
  CHECK(retry.is_over(now + 600));
  retry.start_delay(0, 10'000);
  CHECK(retry.is_over(10'600));
  retry.start_delay(0, 20'000, 7);  // the patience ends in 7 seconds
  CHECK_FALSE(retry.is_over(20'006.9));
  CHECK(retry.is_over(20'007));
  retry.start_delay(0, 30'000, -1);  // it has ended
  CHECK_FALSE(retry.is_over(30'599.9));
}

TEST_CASE("after a failed save none may start until the retry is due, a save is published or the run is restored") {
  const recording_policy policy;
  policy_driver driver(policy, "store");
  cairn::detail::run_record record(nobody);
  CHECK(driver.may_save());
  const auto fail_in_background = [&] {
    driver.set_newest({.step = 3, .began = driver.seconds() - 100});
    driver.delay_retry(true);
    CHECK_FALSE(driver.may_save());
  };
  fail_in_background();
  record.set_newest(published_at(4));
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
    const auto plan = plan_preempt(left, std::nullopt);
    CHECK(plan.grace_seconds == (left > 0 ? left / 2 : 0));
    CHECK_FALSE(plan.as_raw);
    CHECK(plan_preempt(left, cairn::detail::published_save{}).grace_seconds == plan.grace_seconds);
  }
}

TEST_CASE("enough time: it gets what the newer state does not need") {
  CHECK(plan_preempt(30, saved(4, 2, 500)).grace_seconds == 26);
  CHECK_FALSE(plan_preempt(30, saved(4, 2, 500)).as_raw);
}

TEST_CASE("what a limit on bytes per second has held back does not count: there is none then") {
  CHECK(plan_preempt(30, saved(104, 102, 500, 100)).grace_seconds == 26);
  CHECK_FALSE(plan_preempt(30, saved(104, 102, 500, 100)).as_raw);
  CHECK(plan_preempt(30, saved(4, 2, 500, 100)).grace_seconds == 30);
}

TEST_CASE("not enough to encode: the state is stored as it is where that is faster") {
  const auto slow_codec = plan_preempt(3, saved(4, 1, 900));
  CHECK(slow_codec.as_raw);
  CHECK(slow_codec.grace_seconds == Approx(3 - 1000.0 / 900));
  const auto slow_disk = plan_preempt(3, saved(4, 3.5, 100));  // as it is it would take 35 s
  CHECK_FALSE(slow_disk.as_raw);
  CHECK(slow_disk.grace_seconds == 3);  // the newer state cannot be safe in time: rather the older one
}

TEST_CASE("what asks to stop is named") {
  CHECK(cairn::detail::reason_to_stop(SIGTERM).find("signal " + std::to_string(SIGTERM) + ", ") == 0);
  CHECK(cairn::detail::reason_to_stop(cairn::detail::time_limit) == "the time limit");
}
