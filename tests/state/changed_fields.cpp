// SPDX-License-Identifier: MIT
#include "cairn/state/changes.hpp"

#include "cairn/state/problem.hpp"
#include "catch.hpp"

namespace {

using cairn::detail::problem;
using cairn::detail::problem_of_changes;

struct record {
  int a = 0, b = 0, c = 0;
  static constexpr unsigned cairn_version = 2;
  using cairn_changes =
      cairn::changes<cairn::renamed<"a", "x", "y">, cairn::added<"b">, cairn::since<2, "c">, cairn::removed<"d", "e">>;
};
class listed {
 public:
  static auto cairn_fields() { return cairn::fields<&listed::a_>{}; }
  using cairn_changes = cairn::renamed<"a", "x">;

 private:
  int a_ = 0;
};
struct base {
  int a = 0;
  using cairn_changes = cairn::renamed<"a", "x">;
};
struct below : base {
  int b = 0;
  using cairn_bases = cairn::bases<base>;
  static auto cairn_fields() { return cairn::fields<&below::b>{}; }
};
struct changes_too : base {
  int b = 0;
  using cairn_bases = cairn::bases<base>;
  static auto cairn_fields() { return cairn::fields<&changes_too::b>{}; }
  using cairn_changes = cairn::renamed<"b", "y">;
};
class versioned {
 public:
  static auto cairn_fields() { return cairn::fields<&versioned::a_>{}; }
  static constexpr unsigned cairn_version = 1;

 private:
  int a_ = 0;
};
class below_versioned : public versioned {
 public:
  static auto cairn_fields() { return cairn::fields<&below_versioned::b_>{}; }

 private:
  int b_ = 0;
};
struct lists_versioned : versioned {
  using cairn_bases = cairn::bases<versioned>;
};
struct too_new {
  int a = 0;
  static constexpr unsigned cairn_version = 1;
  using cairn_changes = cairn::since<2, "a">;
};
struct same_name {
  int a = 0, b = 0;
  using cairn_changes = cairn::renamed<"a", "b">;
};
struct of_base {
  int b = 0;
  using cairn_changes = cairn::added<"a">;
};
struct no_default {
  explicit no_default(int) {}
  int a = 0;
  static auto cairn_fields() { return cairn::fields<&no_default::a>{}; }
  static constexpr unsigned cairn_version = 1;
  void cairn_migrate(cairn::stored_parts&) {}
};

}  // namespace

TEST_CASE("changes belong to the class that declares the members") {
  using cairn::detail::changed;
  STATIC_REQUIRE(changed<record>);
  STATIC_REQUIRE(changed<listed>);
  STATIC_REQUIRE(changed<base>);
  STATIC_REQUIRE_FALSE(changed<below>);
  STATIC_REQUIRE(changed<changes_too>);
}

TEST_CASE("what is wrong with the changes of a class") {
  STATIC_REQUIRE(problem_of_changes<record>() == problem::none);
  STATIC_REQUIRE(problem_of_changes<listed>() == problem::none);
  STATIC_REQUIRE(problem_of_changes<below>() == problem::none);
  STATIC_REQUIRE(problem_of_changes<changes_too>() == problem::none);
  STATIC_REQUIRE(problem_of_changes<below_versioned>() == problem::none);
  STATIC_REQUIRE(problem_of_changes<lists_versioned>() == problem::changes);
  STATIC_REQUIRE(problem_of_changes<too_new>() == problem::changes);
  STATIC_REQUIRE(problem_of_changes<same_name>() == problem::changes);
  STATIC_REQUIRE(problem_of_changes<of_base>() == problem::changes);
  STATIC_REQUIRE(problem_of_changes<no_default>() == problem::line_form);
}
