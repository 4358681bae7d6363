// SPDX-License-Identifier: MIT
#include "cairn/core/shuffle.hpp"

#include <cstdint>
#include <cstdlib>
#include <random>

#include "catch.hpp"

TEST_CASE("a number is drawn uniformly, not as a remainder") {
  std::mt19937_64 random(5);
  const std::uint64_t quarter = std::uint64_t{1} << 62;
  int low = 0;  // plain remainders would give these twice as often as the others
  for (int i = 0; i < 3000; ++i) low += cairn::detail::draw(random, 3 * quarter) < quarter;
  CHECK(std::abs(low - 1000) < 150);
}
