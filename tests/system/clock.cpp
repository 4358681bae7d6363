#include "cairn/system/clock.hpp"

#include "catch.hpp"

TEST_CASE("a stopwatch does not run backwards") {
  const cairn::detail::stopwatch watch;
  const double first = watch.seconds();
  CHECK(first >= 0);
  CHECK(watch.seconds() >= first);
}
