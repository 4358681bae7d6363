// SPDX-License-Identifier: MIT
#include "cairn/state/column_copy.hpp"

#include <memory>

#include "catch.hpp"

using cairn::detail::has_key_order;
using cairn::detail::key_less;

namespace {

struct with_array {
  int values[2][2];
};
struct with_pointer {
  int number;
  std::shared_ptr<int> pointer;
};

}  // namespace

TEST_CASE("keys with C arrays are ordered by the elements of these, not by their addresses") {
  STATIC_REQUIRE(has_key_order<with_array>());
  const with_array keys[] = {{{{2, 1}, {0, 0}}}, {{{1, 5}, {0, 2}}}, {{{1, 5}, {0, 1}}}};
  CHECK(key_less(keys[2], keys[1]));
  CHECK(key_less(keys[1], keys[0]));
  for (const auto& a : keys)
    for (const auto& b : keys) CHECK_FALSE((key_less(a, b) && key_less(b, a)));
}

TEST_CASE("pointers are not ordered as the objects are to which they point") {
  STATIC_REQUIRE_FALSE(has_key_order<std::shared_ptr<int>>());
  STATIC_REQUIRE_FALSE(has_key_order<std::unique_ptr<int>>());
  STATIC_REQUIRE_FALSE(has_key_order<with_pointer>());
}
