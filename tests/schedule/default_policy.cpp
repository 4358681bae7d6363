// SPDX-License-Identifier: MIT
#include "cairn/schedule/every.hpp"

#include "cairn/schedule/interval.hpp"
#include "catch.hpp"

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
