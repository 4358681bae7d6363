// SPDX-License-Identifier: MIT
#include "cairn/core/policy_memory.hpp"

#include <type_traits>

#include "catch.hpp"

namespace {

TEST_CASE("what a policy has learned is a value") {
  static_assert(std::is_copy_constructible_v<cairn::policy_memory>);
  const cairn::policy_memory learned{{"rate", {0.5, 0.25}}};
  auto copy = learned;
  CHECK(copy == learned);
  copy["rate"].pop_back();
  CHECK(copy != learned);
}

}  // namespace
