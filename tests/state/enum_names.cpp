// SPDX-License-Identifier: MIT
#include "cairn/state/enum_names.hpp"

#include "catch.hpp"

namespace {
enum class listed { a };
enum class other { a };
struct no_enum {};
}  // namespace

template <>
struct cairn::by_name<listed> : cairn::enumerators<listed::a> {};
template <>
struct cairn::by_name<no_enum> : cairn::enumerators<> {};

TEST_CASE("an enum with a list is known by name") {
  STATIC_REQUIRE(cairn::detail::has_enum_names<listed>);
  STATIC_REQUIRE_FALSE(cairn::detail::has_enum_names<other>);
  STATIC_REQUIRE_FALSE(cairn::detail::has_enum_names<no_enum>);
}
