// SPDX-License-Identifier: MIT
#include "cairn/run/policy_driver.hpp"

#include <csignal>
#include <memory>
#include <string>

#include "catch.hpp"

using cairn::detail::plan_preempt;

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
