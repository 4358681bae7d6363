#include "cairn/state/name_text.hpp"

#include "catch.hpp"

template <cairn::detail::name_text Name>
constexpr std::string_view name_of() {
  return Name.view();
}

TEST_CASE("a name is a template argument") {
  STATIC_REQUIRE(name_of<"conv2d">() == "conv2d");
  STATIC_REQUIRE(name_of<"">().empty());
}
