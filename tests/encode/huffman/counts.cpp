// SPDX-License-Identifier: MIT
#include "cairn/encode/huffman/counts.hpp"

#include <random>
#include <vector>

#include "catch.hpp"

using namespace cairn::detail::huffman;

TEST_CASE("every byte is counted once") {
  std::mt19937_64 random(1);
  for (std::size_t n = 0; n < 400; ++n) {
    const std::size_t offset = random() % 16;
    std::vector<std::byte> bytes(offset + n);
    const unsigned kinds = static_cast<unsigned>(random() % 256 + 1);
    byte_counts expected{};
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<std::byte>(random() % kinds);
      if (i >= offset) ++expected[std::to_integer<std::size_t>(bytes[i])];
    }
    REQUIRE(count_bytes(std::span(bytes).subspan(offset)) == expected);
  }
}

TEST_CASE("counts of parts add up to those of the whole") {
  std::mt19937_64 random(2);
  std::vector<std::byte> bytes(100003);
  for (auto& byte : bytes) byte = static_cast<std::byte>(random() >> (56 + random() % 8));
  const auto whole = count_bytes(bytes);
  for (const std::size_t cut : {std::size_t{0}, std::size_t{1}, std::size_t{50001}, bytes.size()}) {
    auto sum = count_bytes(std::span(bytes).first(cut));
    add(sum, count_bytes(std::span(bytes).subspan(cut)));
    CHECK(sum == whole);
  }
}
