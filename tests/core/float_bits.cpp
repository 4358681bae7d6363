// SPDX-License-Identifier: MIT
// Compiled with -ffast-math, under which std::isnan is always false.
#include "cairn/core/float_bits.hpp"

#include "catch.hpp"

using namespace cairn::detail;

#if !defined(__FAST_MATH__)
#error "this test is for -ffast-math"
#endif

TEST_CASE("what a number is, by its bits") {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) {
    auto bits = random();
    if (i % 4 == 0) bits |= cairn::detail::double_exponent_bits;
    if (i % 8 == 0) bits &= ~std::uint64_t{0} << 52U;
    const bool is_special = (bits >> 52U & 2047U) == 2047U, has_fraction = bits << 12U != 0;
    const auto value = std::bit_cast<double>(bits);
    REQUIRE(is_finite(value) == !is_special);
    REQUIRE(cairn::detail::is_negative(value) == (bits >> 63U != 0));
    REQUIRE(cairn::detail::is_positive(value) == (bits >> 63U == 0 && bits != 0 && !(is_special && has_fraction)));
    REQUIRE(is_nan(value) == (is_special && has_fraction));
    REQUIRE(is_infinite(value) == (is_special && !has_fraction));
  }
  for (std::uint32_t high = 0; high <= 0xFFFF; ++high)
    for (const std::uint32_t low : {0U, 1U}) {
      const auto bits = high << 16U | low;
      const bool is_special = (bits >> 23U & 255U) == 255U, has_fraction = bits << 9U != 0;
      const auto value = std::bit_cast<float>(bits);
      REQUIRE(is_finite(value) == !is_special);
      REQUIRE(is_nan(value) == (is_special && has_fraction));
      REQUIRE(is_infinite(value) == (is_special && !has_fraction));
    }
}
