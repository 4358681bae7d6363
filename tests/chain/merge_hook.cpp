#include "cairn/chain/merge_hook.hpp"

#include "cairn/merge.hpp"
#include "catch.hpp"

TEST_CASE("a program that includes cairn/merge.hpp has merging, before main") {
  CHECK(cairn::detail::known_merge == &cairn::merge_checkpoints);
}
