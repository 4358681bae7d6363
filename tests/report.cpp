// SPDX-License-Identifier: MIT
#include "cairn/report.hpp"

#include "catch.hpp"

TEST_CASE("the ratio is that of all bytes, and none before the first save") {
  cairn::save_stats stats;
  CHECK(stats.ratio() == 0);
  stats.state_bytes = 300;
  stats.bytes = 200;
  CHECK(stats.ratio() == 1.5);
}

TEST_CASE("waiting adds up, and the longest is remembered") {
  cairn::save_stats stats;
  for (const double seconds : {0.25, 0.5, 0.125}) stats.stalled(seconds);
  CHECK(stats.stall_seconds == 0.875);
  CHECK(stats.max_stall_seconds == 0.5);
}
