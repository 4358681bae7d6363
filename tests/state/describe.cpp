// SPDX-License-Identifier: MIT
#include "cairn/state/describe.hpp"

#include <map>
#include <string>
#include <vector>

#include "catch.hpp"
#include "state/kept.hpp"

TEST_CASE("arrays are pointed to, copies are kept with the description") {
  struct state {
    std::vector<float> array;
    std::vector<bool> bits;
  };
  const state original{{1, 2, 3}, {true, false}};
  const auto what = cairn::detail::describe(original);
  REQUIRE(what.leaves.size() == 2);
  CHECK(what.leaves[0].memory == reinterpret_cast<const std::byte*>(original.array.data()));
  CHECK(what.leaves[0].owner == nullptr);
  CHECK(what.leaves[1].owner != nullptr);
}

TEST_CASE("a name that the format reserves is refused") {
  const std::map<std::string, std::vector<int>> state{{"__metadata__", {1}}};
  CHECK_THROWS_WITH(cairn::detail::describe(state), Catch::Matchers::ContainsSubstring("__metadata__ is reserved"));
}

TEST_CASE("a description does not depend on the one before, which says how much memory to expect") {
  const std::vector<std::vector<float>> large(3000, {1, 2}), small(2, {3});
  const auto paths = [](const auto& state) {
    std::vector<std::string> all;
    for (const auto& each : cairn::detail::describe(state).leaves) all.push_back(each.path);
    return all;
  };
  const auto of_small = paths(small), of_large = paths(large);
  CHECK(of_large.size() == 3000);
  CHECK(paths(small) == of_small);
  CHECK(paths(small) == of_small);
  CHECK(paths(large) == of_large);
  CHECK(paths(std::vector<int>{}).size() == 1);
  CHECK(paths(large) == of_large);
}
