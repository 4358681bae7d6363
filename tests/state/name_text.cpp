// SPDX-License-Identifier: MIT
#include "cairn/state/name_text.hpp"

#include <array>
#include <string_view>

#include "catch.hpp"

using cairn::detail::join_arrays;

template <cairn::detail::name_text Name>
constexpr std::string_view name_of() {
  return Name.view();
}

TEST_CASE("joined arrays have the elements of all, in their order") {
  static_assert(join_arrays(std::array{1, 2}, std::array<int, 0>{}, std::array{3}) == std::array{1, 2, 3});
  static_assert(join_arrays<int>().empty());
  CHECK(join_arrays(std::array{4}) == std::array{4});
}

TEST_CASE("a name is a template argument") {
  STATIC_REQUIRE(name_of<"conv2d">() == "conv2d");
  STATIC_REQUIRE(name_of<"">().empty());
}
