// SPDX-License-Identifier: MIT
#include "cairn/state/skipped_fields.hpp"

#include <string>

#include "cairn/state/flat.hpp"
#include "catch.hpp"

namespace {

struct marked {
  int a;
  cairn::skip<int*> b;
  int* c;
  using cairn_skip = cairn::names<"c">;
};
struct all_marked {
  cairn::skip<int> a;
};
struct named {
  cairn::skip<int> a;
  std::string b;
};

}  // namespace

TEST_CASE("the fields that are not state are those of type skip and those of the list") {
  using cairn::detail::is_skipped_field;
  STATIC_REQUIRE_FALSE(is_skipped_field<marked, 0, int>());
  STATIC_REQUIRE(is_skipped_field<marked, 1, cairn::skip<int*>>());
  STATIC_REQUIRE(is_skipped_field<marked, 2, int*>());
}

TEST_CASE("a record is flat if its fields that are state are, and it has some") {
  using namespace cairn::detail;
  STATIC_REQUIRE(is_flat<marked>());
  STATIC_REQUIRE_FALSE(is_flat<all_marked>());
  STATIC_REQUIRE_FALSE(is_flat<named>());
  STATIC_REQUIRE(adds_nothing<all_marked>());
  STATIC_REQUIRE_FALSE(adds_nothing<marked>());
  STATIC_REQUIRE(has_skipped<marked[2]>());
  STATIC_REQUIRE_FALSE(has_skipped<int>());
}
