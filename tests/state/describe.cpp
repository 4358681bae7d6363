// SPDX-License-Identifier: MIT
#include "cairn/state/describe.hpp"
#include "cairn/state/describer.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "state/kept.hpp"

namespace {

struct model {
  std::vector<float> weight;
};
class closed {
 public:
  closed() = default;

 private:
  [[maybe_unused]] int hidden_ = 0;
};

}  // namespace

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
  const std::vector<std::vector<std::vector<float>>> large(15, std::vector<std::vector<float>>(200, {1, 2})),
      small(1, std::vector<std::vector<float>>(2, {3}));
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

TEST_CASE("a const state can be saved but not loaded into") {
  STATIC_REQUIRE(cairn::saveable<model>);
  STATIC_REQUIRE(cairn::saveable<const model>);
  STATIC_REQUIRE(cairn::loadable<model>);
  STATIC_REQUIRE_FALSE(cairn::loadable<const model>);
  model state;
  STATIC_REQUIRE(std::is_same_v<decltype(cairn::refer(state)), cairn::any_mutable_state>);
  STATIC_REQUIRE(std::is_same_v<decltype(cairn::refer(std::as_const(state))), cairn::any_state>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<cairn::any_state, cairn::any_mutable_state>);
}

TEST_CASE("a type without a category is not saveable") {
  STATIC_REQUIRE_FALSE(cairn::saveable<closed>);
  STATIC_REQUIRE_FALSE(cairn::saveable<model*>);
  STATIC_REQUIRE_FALSE(cairn::saveable<void>);
  STATIC_REQUIRE_FALSE(cairn::saveable<model&>);
  STATIC_REQUIRE_FALSE(cairn::saveable<volatile int>);
}

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
