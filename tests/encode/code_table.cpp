// SPDX-License-Identifier: MIT
#include "cairn/encode/code_tables.hpp"

#include "catch.hpp"

namespace {

TEST_CASE("code tables are equal if their ids and all lengths are") {
  cairn::code_table a{.id = 7}, b = a;
  CHECK(a == b);
  b.lengths[255] = 3;
  CHECK(a != b);
  b = a;
  b.id = 8;
  CHECK(a != b);
}

}  // namespace
