// SPDX-License-Identifier: MIT
#include "cairn/core/checkpoint_info.hpp"

#include "catch.hpp"

namespace {

TEST_CASE("a published checkpoint may have more metrics and other notes than a save, and nothing else") {
  const cairn::detail::checkpoint_info saved{7, {{"loss", 0.5}}, {{"kept", {1}}}, {{"host", "a"}}};
  using cairn::detail::says_all;
  CHECK(says_all(saved, saved));
  auto other = saved;
  other.metrics["accuracy"] = 0.25;
  other.notes.clear();
  CHECK(says_all(other, saved));
  CHECK_FALSE(says_all(saved, other));
  other = saved;
  other.metrics["loss"] = 0.25;
  CHECK_FALSE(says_all(other, saved));
  other = saved;
  other.step = 8;
  CHECK_FALSE(says_all(other, saved));
  other = saved;
  other.metadata.clear();
  CHECK_FALSE(says_all(other, saved));
}

}  // namespace
