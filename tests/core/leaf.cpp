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
