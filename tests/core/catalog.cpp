// SPDX-License-Identifier: MIT
#include "cairn/core/catalog.hpp"

#include "catch.hpp"

TEST_CASE("a leaf is found by its whole path only") {
  cairn::detail::catalog catalog;
  catalog.leaves = {{"a", cairn::dtype::f32, {2}}, {"a.b", cairn::dtype::f32, {}}, {"c", cairn::dtype::u8, {3}}};
  CHECK(catalog.find("a") == 0);
  CHECK(catalog.find("a.b") == 1);
  CHECK(catalog.find("c") == 2);
  for (const char* absent : {"", "b", "a.", "d"}) CHECK(catalog.find(absent) == cairn::detail::catalog::npos);
  CHECK(catalog.leaves[0].bytes() == 8);
}
