// SPDX-License-Identifier: MIT
#include "cairn/core/float_types.hpp"

#include <cmath>
#include <limits>

#include "catch.hpp"

namespace {

/// All finite values of a format, in ascending order of their bits without sign: the definition to round
/// against.
template <class Small, class Bits>
void check_format(float largest) {
  const unsigned sign = 1U << (8 * sizeof(Bits) - 1);
  for (unsigned bits = 0; bits < 2 * sign; ++bits) {
    const auto small = Small::from_bits(static_cast<Bits>(bits));
    const auto value = static_cast<float>(small);
    if (std::isnan(value)) {
      CHECK(std::isnan(static_cast<float>(Small(value))));
      continue;
    }
    if (Small(value) != small) FAIL("bits " << bits << " do not come back");
    if (!std::isinf(value) && std::abs(value) > largest) FAIL("bits " << bits << " give " << value);
  }
  // Half-way between two neighbours goes to the even one; anything beyond half-way to the nearer one.
  for (unsigned bits = 0; bits + 1 < sign; ++bits) {
    const auto low = static_cast<float>(Small::from_bits(static_cast<Bits>(bits)));
    const auto high = static_cast<float>(Small::from_bits(static_cast<Bits>(bits + 1)));
    if (!std::isfinite(low) || !std::isfinite(high)) continue;
    const float middle = low + (high - low) / 2;  // exact unless it is a float's smallest step
    if (static_cast<double>(middle) != (static_cast<double>(low) + static_cast<double>(high)) / 2) continue;
    const auto even = static_cast<Bits>(bits % 2 == 0 ? bits : bits + 1);
    if (Small(middle).bits != even) FAIL("the tie above bits " << bits << " goes to " << Small(middle).bits);
    if (Small(std::nextafter(middle, low)).bits != bits && std::nextafter(middle, low) != low) FAIL("below " << middle);
    if (Small(std::nextafter(middle, high)).bits != bits + 1) FAIL("above " << middle);
    if (Small(-middle).bits != (even | sign)) FAIL("the sign of " << -middle);
  }
}

}  // namespace

TEST_CASE("small floats widen exactly and narrow to the nearest, ties to even") {
  check_format<cairn::float16, std::uint16_t>(65504.0F);
  check_format<cairn::bfloat16, std::uint16_t>(std::numeric_limits<float>::max());
  check_format<cairn::float8_e4m3, std::uint8_t>(448.0F);
  check_format<cairn::float8_e5m2, std::uint8_t>(57344.0F);
}

TEST_CASE("values beyond the largest overflow as the format says") {
  CHECK(std::isinf(static_cast<float>(cairn::float16(65520.0F))));
  CHECK(static_cast<float>(cairn::float16(65519.0F)) == 65504.0F);
  CHECK(std::isinf(static_cast<float>(cairn::float8_e5m2(1e9F))));
  CHECK(static_cast<float>(cairn::float8_e4m3(464.0F)) == 448.0F);
  CHECK(std::isnan(static_cast<float>(cairn::float8_e4m3(465.0F))));
  CHECK(std::isnan(static_cast<float>(cairn::float8_e4m3(std::numeric_limits<float>::infinity()))));
  CHECK(std::isinf(static_cast<float>(cairn::bfloat16(std::numeric_limits<float>::max()))));
}

TEST_CASE("known values") {
  CHECK(cairn::float16(1.0F / 3).bits == 0x3555);
  CHECK(cairn::bfloat16(1.0F / 3).bits == 0x3eab);
  CHECK(cairn::float8_e4m3(1.0F).bits == 0x38);
  CHECK(cairn::float8_e5m2(1.0F).bits == 0x3c);
}
