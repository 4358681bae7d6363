// SPDX-License-Identifier: MIT
#include "cairn/state/saveable.hpp"

#include <type_traits>
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
