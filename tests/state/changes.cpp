// SPDX-License-Identifier: MIT
#include "cairn/state/changes.hpp"

#include "cairn/fields.hpp"
#include "catch.hpp"

namespace {

struct unchanged {
  int a = 0;
};
struct changed {
  int a = 0;
  static constexpr unsigned cairn_version = 1;
  using cairn_changes = cairn::renamed<"a", "b">;
  void cairn_migrate(cairn::stored_parts&) {}
};
struct const_migration {
  void cairn_migrate(const cairn::stored_parts&) const {}
};
struct other_migration {
  void cairn_migrate(int) {}
};

}  // namespace

TEST_CASE("the lines of a class that has changed") {
  using namespace cairn::detail;
  STATIC_REQUIRE(has_changes<changed>);
  STATIC_REQUIRE(declares_version<changed>);
  STATIC_REQUIRE(has_migration<changed>);
  STATIC_REQUIRE_FALSE(has_changes<unchanged>);
  STATIC_REQUIRE_FALSE(declares_version<unchanged>);
  STATIC_REQUIRE_FALSE(declares_migration<unchanged>);
  STATIC_REQUIRE(has_migration<const_migration>);
  STATIC_REQUIRE(declares_migration<other_migration>);
  STATIC_REQUIRE_FALSE(has_migration<other_migration>);
}
