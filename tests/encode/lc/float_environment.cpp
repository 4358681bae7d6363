// SPDX-License-Identifier: MIT
#include "cairn/encode/lc/elements.hpp"

#include "catch.hpp"

TEST_CASE("lc/float_environment: modes are the default ones inside, and come back") {
  std::fesetround(FE_UPWARD);
  int inside = 0, after = 0;
  {
    const cairn::detail::default_float_environment guard;
    inside = std::fegetround();
  }
  after = std::fegetround();
  std::fesetround(FE_TONEAREST);
  CHECK(inside == FE_TONEAREST);
  CHECK(after == FE_UPWARD);
}
