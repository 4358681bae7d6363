// SPDX-License-Identifier: MIT
#include "cairn/state/problem.hpp"
#include "cairn/state/refuse.hpp"

#include "catch.hpp"

namespace {

using cairn::detail::has_version;
using cairn::detail::name_of_two;
using cairn::detail::problem;
using cairn::detail::problem_of;

// Lines.

struct versioned_tag {
  static constexpr unsigned cairn_version = 3;
};
struct below_version : versioned_tag {
  int value = 0;
};
struct lists_below_version : versioned_tag {
  int value = 0;
  static auto cairn_fields() { return cairn::fields<&lists_below_version::value>{}; }
};
struct has_its_own : versioned_tag {
  int value = 0;
  static constexpr unsigned cairn_version = 2;
};

struct skip_tag {
  using cairn_skip = cairn::names<"cache">;
};
struct below_skip : skip_tag {
  int cache = 0, value = 0;
};
struct middle : skip_tag {};
struct below_middle : middle {
  int cache = 0, value = 0;
};
struct own_skip : skip_tag {
  int cache = 0, value = 0;
  using cairn_skip = cairn::names<"value">;
};
struct skips : versioned_tag {
  int cache = 0, value = 0;
  using cairn_skip = cairn::names<"cache">;
};
struct lists_below_skips : skips {
  int more = 0;
  using cairn_bases = cairn::bases<skips>;
  static auto cairn_fields() { return cairn::fields<&lists_below_skips::more>{}; }
};

struct changes_tag {
  using cairn_changes = cairn::changes<cairn::renamed<"value", "v">>;
};
struct below_changes : changes_tag {
  int value = 0;
};

struct final_record final {
  int value = 0;
};
class final_class final {
 public:
  static auto cairn_fields() { return cairn::fields<&final_class::value_>{}; }

 private:
  int value_ = 0;
};
struct layer {
  int id = 0;
};
struct final_of_other_form final : layer {
  int value = 0;
  using cairn_bases = layer;
  static auto cairn_fields() { return cairn::fields<&final_of_other_form::value>{}; }
};
struct with_virtual {
  virtual ~with_virtual() = default;
  virtual int number() const = 0;
  int value = 0;
  static auto cairn_fields() { return cairn::fields<&with_virtual::value>{}; }
};

// Paths.

struct base {
  int x = 0;
};
struct other {
  int y = 0;
};
struct distinct : base, other, std::vector<int> {
  int z = 0;
  using cairn_bases = cairn::bases<base, other, std::vector<int>>;
  static auto cairn_fields() { return cairn::fields<&distinct::z>{}; }
};
struct deep : distinct {
  int y = 0;
  using cairn_bases = cairn::bases<distinct>;
  static auto cairn_fields() { return cairn::fields<&deep::y>{}; }
};
struct base_twice : base {
  int z = 0;
  using cairn_bases = cairn::bases<base, base>;
  static auto cairn_fields() { return cairn::fields<&base_twice::z>{}; }
};
struct member_twice {
  int z = 0;
  static auto cairn_fields() { return cairn::fields<&member_twice::z, &member_twice::z>{}; }
};
struct inherited_twice : base {
  using cairn_bases = cairn::bases<base>;
  static auto cairn_fields() { return cairn::fields<&inherited_twice::x>{}; }
};
struct member_base1 : std::vector<int>, std::vector<float> {
  int base1 = 0;
  using cairn_bases = cairn::bases<std::vector<int>, std::vector<float>>;
  static auto cairn_fields() { return cairn::fields<&member_base1::base1>{}; }
};
struct has_cache {
  int x = 0, cache = 0;
  using cairn_skip = cairn::names<"cache">;
};
struct not_skipped : has_cache {
  int cache = 0;
  using cairn_bases = cairn::bases<has_cache>;
  static auto cairn_fields() { return cairn::fields<&not_skipped::cache>{}; }
};

}  // namespace

TEST_CASE("a version belongs to the class that contains it") {
  STATIC_REQUIRE(has_version<versioned_tag>);
  STATIC_REQUIRE_FALSE(has_version<below_version>);
  STATIC_REQUIRE_FALSE(has_version<lists_below_version>);
  STATIC_REQUIRE(has_version<has_its_own>);
}

TEST_CASE("the skip list and the changes of an empty base class are those of the struct") {
  STATIC_REQUIRE(problem_of<below_skip>() == problem::none);
  STATIC_REQUIRE(problem_of<below_middle>() == problem::none);
  STATIC_REQUIRE(problem_of<below_changes>() == problem::none);
  STATIC_REQUIRE(problem_of<own_skip>() == problem::none);
  STATIC_REQUIRE(problem_of<skips>() == problem::none);
  STATIC_REQUIRE(problem_of<lists_below_skips>() == problem::none);
}

TEST_CASE("lines are looked for in final and in abstract classes") {
  STATIC_REQUIRE(problem_of<final_record>() == problem::none);
  STATIC_REQUIRE(problem_of<final_class>() == problem::none);
  STATIC_REQUIRE(problem_of<final_of_other_form>() == problem::line_form);
  STATIC_REQUIRE(problem_of<with_virtual>() == problem::none);
}

TEST_CASE("members with one path are found, through base classes") {
  STATIC_REQUIRE(problem_of<distinct>() == problem::none);
  STATIC_REQUIRE(problem_of<not_skipped>() == problem::none);
  STATIC_REQUIRE(problem_of<deep>() == problem::path);
  STATIC_REQUIRE(name_of_two<deep>() == "y");
  STATIC_REQUIRE(name_of_two<base_twice>() == "x");
  STATIC_REQUIRE(name_of_two<member_twice>() == "z");
  STATIC_REQUIRE(name_of_two<inherited_twice>() == "x");
  STATIC_REQUIRE(name_of_two<member_base1>() == "base1");
}
