// SPDX-License-Identifier: MIT
#include "cairn/event.hpp"
#include "cairn/report.hpp"
#include "cairn/version.hpp"

#include "catch.hpp"

using kind = cairn::event::kind;

TEST_CASE("every kind of event has a name of its own") {
  std::set<std::string_view> names;
  const auto count = static_cast<std::uint8_t>(kind::unmatched) + 1U;
  for (unsigned what = 0; what < count; ++what) names.insert(cairn::name(static_cast<kind>(what)));
  CHECK(names.size() == count);
  CHECK_FALSE(names.contains("unknown"));
  CHECK(cairn::name(static_cast<kind>(200)) == "unknown");
}

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

TEST_CASE("the version's text and numbers agree") {
  CHECK(std::string(CAIRN_VERSION) == std::to_string(CAIRN_VERSION_MAJOR) + "." + std::to_string(CAIRN_VERSION_MINOR) +
                                          "." + std::to_string(CAIRN_VERSION_PATCH));
}
