#include "cairn/chain/merge_hook.hpp"

#include "cairn/merge.hpp"
#include "catch.hpp"

TEST_CASE("a program that includes cairn/merge.hpp has merging, before main") {
  const auto* const known = cairn::detail::known_merge.load();
  REQUIRE(known != nullptr);
  CHECK(known->merge == &cairn::merge_checkpoints);
  CHECK(known->open_joint == &cairn::detail::open_joint_merge);
}
