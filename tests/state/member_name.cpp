// SPDX-License-Identifier: MIT
#include "cairn/state/member_name.hpp"

#include "catch.hpp"

namespace nets {
struct dense {
  int weight;
};
}  // namespace nets

TEST_CASE("the last identifier of a signature") {
  using cairn::detail::last_identifier;
  STATIC_REQUIRE(last_identifier("(& fake<S>.value.S::weight)}]") == "weight");
  STATIC_REQUIRE(last_identifier("&fake.value.größe}]") == "größe");
  STATIC_REQUIRE(last_identifier("") == "");
}

TEST_CASE("names of types") {
  CHECK(cairn::detail::type_name<nets::dense>() == "nets::dense");
  CHECK(cairn::detail::type_name<int>() == "int");
}
