// SPDX-License-Identifier: MIT
#include "cairn/system/clock.hpp"

#include "catch.hpp"

TEST_CASE("a stopwatch does not run backwards") {
  const cairn::detail::stopwatch watch;
  const double first = watch.seconds();
  CHECK(first >= 0);
  CHECK(watch.seconds() >= first);
}

TEST_CASE("a pause takes at least its time") {
  const cairn::detail::stopwatch watch;
  cairn::detail::pause_for(std::chrono::microseconds(100));
  CHECK(watch.seconds() >= 0.0001);
}
