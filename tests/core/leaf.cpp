// SPDX-License-Identifier: MIT
#include "cairn/core/leaf.hpp"

#include "catch.hpp"

TEST_CASE("a scalar has one element and no dimensions") {
  CHECK(cairn::element_count({}) == 1);
  CHECK(cairn::element_count({2, 3, 4}) == 24);
  CHECK(cairn::element_count({5, 0}) == 0);
  CHECK(cairn::to_string(cairn::extents{2, 3}) == "[2, 3]");
  CHECK(cairn::to_string(cairn::extents{}) == "[]");
}

TEST_CASE("bytes follow from shape and dtype") {
  const cairn::detail::memory_view view{cairn::dtype::f64, {2, 5}, nullptr, {}};
  CHECK(view.bytes() == 80);
  CHECK(view.contiguous());
}

TEST_CASE("arrays of 2^48 bytes or fewer can be in memory") {
  const std::uint64_t large = std::uint64_t{1} << 40U;
  CHECK(cairn::is_addressable({}, 8));
  CHECK(cairn::is_addressable({large, 32}, 8));
  CHECK_FALSE(cairn::is_addressable({large, 33}, 8));
  CHECK_FALSE(cairn::is_addressable({large, large}, 1));
  CHECK(cairn::is_addressable({large, large, 0}, 1));
}
