// SPDX-License-Identifier: MIT
#include "cairn/plan/cost.hpp"

#include "catch.hpp"

TEST_CASE("the seconds of a write are those of the file, of the bytes and of the tensors") {
  const cairn::plan::write_cost cost{2e-3, 1e-9, 3e-6};
  CHECK(cost.seconds(1'000'000, 1000) == Catch::Approx(2e-3 + 1e-3 + 3e-3));
  CHECK(cost.seconds(0, 0) == Catch::Approx(2e-3));
}
