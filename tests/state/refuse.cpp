// SPDX-License-Identifier: MIT
#include "cairn/state/refuse.hpp"

#include <string_view>
#include <vector>

#include "cairn/state/describe.hpp"
#include "catch.hpp"

namespace {

using cairn::detail::problem;

struct fine {
  std::vector<int> a;
};
struct constant {
  std::vector<std::vector<fine>> all;
  const int never = 0;
};

template <class State>
constexpr std::string_view named = cairn::detail::refusal_of<State>.where_const.view();

}  // namespace

TEST_CASE("a state with const parts is refused for a load only") {
  STATIC_REQUIRE(cairn::detail::problem_in<fine, true> == problem::none);
  STATIC_REQUIRE(cairn::detail::problem_in<constant, false> == problem::none);
  STATIC_REQUIRE(cairn::detail::problem_in<constant, true> == problem::const_part);
  STATIC_REQUIRE(named<constant>.starts_with("never"));
}

TEST_CASE("the walk function of a state that is accepted is that of its type") {
  CHECK(cairn::detail::checked_walk<fine, true>() == cairn::detail::walk<fine>);
  CHECK(cairn::detail::checked_walk<constant, false>() == cairn::detail::walk<constant>);
  CHECK(cairn::detail::checked_part_walk<fine>() == cairn::detail::walk<fine>);
}
