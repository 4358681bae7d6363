// SPDX-License-Identifier: MIT
#include "cairn/state/describer.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "catch.hpp"

TEST_CASE("position_index finds the first position of each value, as a map does") {
  std::mt19937 random(3);
  for (const unsigned values : {1U, 20U, 5000U}) {
    for (const unsigned hashes : {1U, 7U, 100'000U}) {  // few hashes: many collisions
      if (values > 20 && hashes == 1) continue;
      cairn::detail::position_index index;
      std::vector<unsigned> list;
      std::map<unsigned, std::uint32_t> expected;
      for (int i = 0; i < 3000; ++i) {
        const unsigned value = static_cast<unsigned>(random()) % values;
        const auto position = static_cast<std::uint32_t>(list.size());
        const std::size_t hash = std::size_t{value % hashes} << 4U;
        const auto found = index.find_or_add(hash, position, [&](std::uint32_t p) { return list.at(p) == value; });
        if (found == position) list.push_back(value);
        REQUIRE(found == expected.try_emplace(value, position).first->second);
      }
    }
  }
}
