// SPDX-License-Identifier: MIT
#include "cairn/state/flat.hpp"

#include "cairn/fields.hpp"
#include "cairn/state/words.hpp"
#include "catch.hpp"

namespace {

struct without_changes {
  int a = 0;
};
struct with_changes {
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

TEST_CASE("the lines of a class that has with_changes") {
  using namespace cairn::detail;
  STATIC_REQUIRE(has_changes<with_changes>);
  STATIC_REQUIRE(declares_version<with_changes>);
  STATIC_REQUIRE(has_migration<with_changes>);
  STATIC_REQUIRE_FALSE(has_changes<without_changes>);
  STATIC_REQUIRE_FALSE(declares_version<without_changes>);
  STATIC_REQUIRE_FALSE(declares_migration<without_changes>);
  STATIC_REQUIRE(has_migration<const_migration>);
  STATIC_REQUIRE(declares_migration<other_migration>);
  STATIC_REQUIRE_FALSE(has_migration<other_migration>);
}

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

TEST_CASE("the fields that are not state are those of type skip and those of the list") {
  using namespace cairn::detail;
  STATIC_REQUIRE(std::is_same_v<parts_of<marked>::types, type_list<int, no_state, no_state>>);
  STATIC_REQUIRE(parts_of<marked>::names == std::array<std::string_view, 3>{"a", "", ""});
}

TEST_CASE("a record is flat if its fields that are state are, and it has some") {
  using namespace cairn::detail;
  STATIC_REQUIRE(flat<marked>);
  STATIC_REQUIRE_FALSE(flat<all_marked>);
  STATIC_REQUIRE_FALSE(flat<named>);
  STATIC_REQUIRE(row_traits_of<all_marked>.is_empty);
  STATIC_REQUIRE_FALSE(row_traits_of<marked>.is_empty);
  STATIC_REQUIRE(row_traits_of<marked[2]>.has_skipped);
  STATIC_REQUIRE_FALSE(row_traits_of<int>.has_skipped);
}

struct point {
  float xyz[3];
  std::complex<double> phase;
  bool visible;
  std::pair<int, std::chrono::seconds> seen;
};
struct named_point {
  point at;
  std::string name;
};
struct empty {};
class listed {
 public:
  static auto cairn_fields() { return cairn::fields<&listed::a_>{}; }

 private:
  int a_ = 0;
};
struct virtually_derived : virtual listed {
  int b = 0;
  using cairn_bases = cairn::bases<listed>;
  static auto cairn_fields() { return cairn::fields<&virtually_derived::b>{}; }
};
struct derived_from_listed : listed {
  using cairn_bases = cairn::bases<listed>;
};
struct with_bit_field {
  int a : 3;
};
struct nested_lists {
  int value;
  std::vector<nested_lists> children;
};

}  // namespace

TEST_CASE("flat is what has the same numbers at the same offsets in every object") {
  using cairn::detail::flat;
  STATIC_REQUIRE(flat<int>);
  STATIC_REQUIRE(flat<point>);
  STATIC_REQUIRE(flat<std::array<point, 3>>);
  STATIC_REQUIRE(flat<std::tuple<int, point>>);
  STATIC_REQUIRE(flat<listed>);
  STATIC_REQUIRE(flat<derived_from_listed>);
  STATIC_REQUIRE_FALSE(flat<virtually_derived>);
  STATIC_REQUIRE_FALSE(flat<with_bit_field>);
  STATIC_REQUIRE_FALSE(flat<named_point>);
  STATIC_REQUIRE_FALSE(flat<empty>);
  STATIC_REQUIRE_FALSE(flat<nested_lists>);
  STATIC_REQUIRE_FALSE(flat<std::optional<int>>);
  STATIC_REQUIRE_FALSE(flat<std::unique_ptr<int>>);
  STATIC_REQUIRE_FALSE(flat<long double>);
}
