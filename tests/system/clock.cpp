// SPDX-License-Identifier: MIT
#include "cairn/system/clock.hpp"

#include "catch.hpp"

TEST_CASE("who waits while the process is suspended waits for a second at most") {
  cairn::detail::waiting_time waited;
  for (const double gap : {0.25, 3600.0, 0.5, 2.0}) waited.add(gap);
  const double all = waited.seconds();
  CHECK(all >= 2.75);
  CHECK(all <= 3.75);
}
