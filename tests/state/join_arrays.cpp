#include "cairn/state/join_arrays.hpp"

#include <array>

#include "catch.hpp"

using cairn::detail::join_arrays;

TEST_CASE("joined arrays have the elements of all, in their order") {
  static_assert(join_arrays(std::array{1, 2}, std::array<int, 0>{}, std::array{3}) == std::array{1, 2, 3});
  static_assert(join_arrays<int>().empty());
  CHECK(join_arrays(std::array{4}) == std::array{4});
}
