// SPDX-License-Identifier: MIT
#include "cairn/system/stream_copy.hpp"

#include <random>
#include <vector>

#include "catch.hpp"

TEST_CASE("any length at any address is copied, and nothing around it") {
  std::mt19937_64 random(1);
  std::vector<std::byte> from(100'000), to(from.size());
  for (auto& b : from) b = static_cast<std::byte>(random());
  for (int round = 0; round < 1000; ++round) {
    const std::size_t at = random() % 200, source = random() % 200;
    const std::size_t length = random() % 2 ? random() % 99'000 : random() % 300;
    to.assign(to.size(), std::byte{1});
    cairn::detail::stream_copy(to.data() + at, from.data() + source, length);
    for (std::size_t i = 0; i < at; ++i) REQUIRE(to[i] == std::byte{1});
    REQUIRE(std::equal(to.begin() + static_cast<std::ptrdiff_t>(at),
                       to.begin() + static_cast<std::ptrdiff_t>(at + length),
                       from.begin() + static_cast<std::ptrdiff_t>(source)));
    for (std::size_t i = at + length; i < at + length + 200 && i < to.size(); ++i) REQUIRE(to[i] == std::byte{1});
  }
}
