// SPDX-License-Identifier: MIT
#include "cairn/core/checksum.hpp"
#include "cairn/core/shuffle.hpp"

#include "catch.hpp"

TEST_CASE("a checksum does not depend on how the bytes come") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::byte> bytes(random() % 5000);
    for (auto& b : bytes) b = static_cast<std::byte>(random());
    cairn::detail::running_checksum sum;
    for (std::size_t at = 0; at < bytes.size();) {
      const auto part = std::min<std::size_t>(random() % 700 + 1, bytes.size() - at);
      sum.add(std::span(bytes).subspan(at, part));
      at += part;
    }
    CHECK(sum.value() == cairn::detail::checksum(bytes));
  }
}

TEST_CASE("sixteen digits and back") {
  std::mt19937_64 random(2);
  for (int round = 0; round < 200; ++round) {
    const auto value = random() >> (random() % 64);
    const auto text = cairn::detail::to_hex(value);
    CHECK(text.size() == cairn::detail::checksum_digits);
    CHECK(cairn::detail::parse_hex(text) == value);
  }
  CHECK(cairn::detail::to_hex(0xabcdef) == "0000000000abcdef");
  CHECK_FALSE(cairn::detail::parse_hex("abcdef"));
  CHECK_FALSE(cairn::detail::parse_hex("0000000000ABCDEF"));
  CHECK_FALSE(cairn::detail::parse_hex("0000000000abcde "));
}

TEST_CASE("the checksum is XXH3-64 with seed 0") {
  CHECK(cairn::detail::to_hex(cairn::detail::checksum({})) == "2d06800538d394c2");
}

TEST_CASE("a number is drawn uniformly, not as a remainder") {
  std::mt19937_64 random(5);
  const std::uint64_t quarter = std::uint64_t{1} << 62;
  int low = 0;  // plain remainders would give these twice as often as the others
  for (int i = 0; i < 3000; ++i) low += cairn::detail::draw(random, 3 * quarter) < quarter;
  CHECK(std::abs(low - 1000) < 150);
}
