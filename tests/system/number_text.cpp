// SPDX-License-Identifier: MIT
#include "cairn/system/json.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <random>

#include "catch.hpp"

using cairn::detail::read_number;
using cairn::detail::read_number_of_c;

TEST_CASE("both ways to read a real number give the number that was written") {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    auto bits = random();
    if (i % 4 == 0) bits &= ~cairn::detail::double_exponent_bits;  // subnormal
    const auto number = std::bit_cast<double>(bits);
    if (!cairn::detail::is_finite(number)) continue;
    std::array<char, 40> chars{};
    const auto end = std::to_chars(chars.data(), chars.data() + chars.size(), number).ptr;
    const std::string_view text(chars.data(), static_cast<std::size_t>(end - chars.data()));
    INFO(text);
    double read = 0, read_of_c = 0;
    REQUIRE(read_number(text, read));
    REQUIRE(read_number_of_c(text, read_of_c));
    REQUIRE(std::bit_cast<std::uint64_t>(read) == bits);
    REQUIRE(std::bit_cast<std::uint64_t>(read_of_c) == bits);
  }
}

TEST_CASE("a text that is more than a number, or none, or a number out of range, is refused both ways") {
  double number = 0;
  for (const std::string_view text : {"", "-", "1x", "1 ", "1e", "1e999", "-1e999", "1e-999", "0.001e-999", "1,5"}) {
    INFO(text);
    CHECK(!read_number(text, number));
    CHECK(!read_number_of_c(text, number));
  }
  for (const std::string_view text : {"0", "-0.0", "0e7", "0e-999", "0.00", "2e-308", "5e-324"}) {
    INFO(text);
    CHECK(read_number(text, number));
    CHECK(read_number_of_c(text, number));
  }
  std::uint64_t natural = 0;
  CHECK((read_number("18446744073709551615", natural) && natural == ~std::uint64_t{0}));
  CHECK(!read_number("18446744073709551616", natural));
}
