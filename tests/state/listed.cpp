// SPDX-License-Identifier: MIT
#include "cairn/state/listed.hpp"

#include <type_traits>

#include "catch.hpp"

namespace {

using cairn::detail::problem;
using cairn::detail::problem_of_lists;

struct base {
  int a = 0;
  static auto cairn_fields() { return cairn::fields<&base::a>{}; }
};
struct without : base {
  int b = 0;
};
struct with_none_of_its_own : base {
  static auto cairn_fields() { return cairn::fields<&base::a>{}; }
};
struct stateless : base {
  int cache = 0;
  static auto cairn_fields() { return cairn::fields<>{}; }
};
struct below_stateless : stateless {
  int b = 0;
};
template <class T>
struct box {
  T value{};
  int cache = 0;
  static auto cairn_fields() { return cairn::fields<>{}; }
};
struct below_box : box<int> {
  int b = 0;
};
template <class T>
struct box_below_box : box<T> {
  T b{};
};
struct inherits_all : base {
  using cairn_bases = cairn::bases<base>;
};
struct inherits_bases : inherits_all {
  int b = 0;
};
struct omits_own : base {
  int b = 0;
  using cairn_bases = cairn::bases<base>;
};
struct hidden : private base {
  int b = 0;
  static auto cairn_fields() { return cairn::fields<&hidden::b>{}; }
  using cairn_bases = cairn::bases<base>;
};

}  // namespace

TEST_CASE("a list belongs to the class that declares it") {
  STATIC_REQUIRE(problem_of_lists<base>() == problem::none);
  STATIC_REQUIRE(problem_of_lists<without>() == problem::inherited_list);
  STATIC_REQUIRE(problem_of_lists<with_none_of_its_own>() == problem::none);
  STATIC_REQUIRE(problem_of_lists<stateless>() == problem::none);
  STATIC_REQUIRE(problem_of_lists<below_stateless>() == problem::inherited_list);
  STATIC_REQUIRE(problem_of_lists<box<int>>() == problem::none);
  STATIC_REQUIRE(problem_of_lists<below_box>() == problem::inherited_list);
  STATIC_REQUIRE(problem_of_lists<box_below_box<int>>() == problem::inherited_list);
  STATIC_REQUIRE(problem_of_lists<box<box<int>>>() == problem::none);
}

TEST_CASE("a list of base classes replaces an inherited list of fields") {
  STATIC_REQUIRE(problem_of_lists<inherits_all>() == problem::none);
  STATIC_REQUIRE(std::is_same_v<cairn::detail::own_fields<inherits_all>, cairn::fields<>>);
  STATIC_REQUIRE(problem_of_lists<inherits_bases>() == problem::unlisted_members);
  STATIC_REQUIRE(problem_of_lists<omits_own>() == problem::unlisted_members);
  STATIC_REQUIRE(problem_of_lists<hidden>() == problem::inaccessible);
}
