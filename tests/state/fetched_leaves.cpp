// SPDX-License-Identifier: MIT
#include "cairn/state/fetched_leaves.hpp"

#include <algorithm>
#include <array>

#include "catch.hpp"

namespace {

TEST_CASE("leaves are fetched once, as long as there is room for them") {
  std::size_t reads = 0;
  cairn::detail::catalog from;
  from.fetch = [&](std::size_t index, std::span<std::byte> out) {
    ++reads;
    std::fill(out.begin(), out.end(), static_cast<std::byte>(index));
  };
  cairn::detail::fetched_leaves kept(10);
  std::array<std::byte, 6> out{};
  for (int round = 0; round < 3; ++round)
    for (const std::size_t index : {1U, 2U}) {
      kept.fetch(from, index, out);
      CHECK(std::count(out.begin(), out.end(), static_cast<std::byte>(index)) == 6);
    }
  CHECK(reads == 4);  // the first one once
  CHECK(kept.has(1));
  CHECK_FALSE(kept.has(2));
  kept.fetch(from, 3, std::span(out).first(4));
  kept.fetch(from, 3, std::span(out).first(4));
  CHECK(reads == 5);
}

}  // namespace
