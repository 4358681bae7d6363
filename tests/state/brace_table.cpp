// SPDX-License-Identifier: MIT
#include "cairn/state/leading_bases.hpp"

#include <string>
#include <vector>

#include "catch.hpp"

namespace {

struct three {
  int a[7];
  std::vector<std::string> b;
  int c = 1;
};

}  // namespace

TEST_CASE("each pair of braces is one field") {
  using cairn::detail::braces;
  STATIC_REQUIRE(braces<0>::take<three>);
  STATIC_REQUIRE(braces<3>::take<three>);
  STATIC_REQUIRE(braces<2>::take<three, int>);
  STATIC_REQUIRE_FALSE(braces<0>::take<three, std::string>);
  STATIC_REQUIRE_FALSE(braces<4>::take<three>);
  STATIC_REQUIRE_FALSE(braces<3>::take<three, int>);
  STATIC_REQUIRE_FALSE(braces<101>::take<three>);
}
