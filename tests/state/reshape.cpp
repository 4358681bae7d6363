// SPDX-License-Identifier: MIT
#include "cairn/state/convert.hpp"

#include "cairn/core/strided.hpp"
#include "catch.hpp"

using cairn::extents;
using cairn::reshaping;
using cairn::detail::differ_by_container;
using cairn::detail::is_reshapable;

TEST_CASE("growing takes shapes that are as large in each dimension, any all of as many dimensions") {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    extents from(random() % 4), to(random() % 4);
    for (auto* const shape : {&from, &to})
      for (auto& n : *shape) n = random() % 3;
    bool fits = from.size() == to.size();
    for (std::size_t d = 0; fits && d < from.size(); ++d) fits = from[d] <= to[d];
    CHECK(is_reshapable(from, to, reshaping::none) == (from == to));
    CHECK(is_reshapable(from, to, reshaping::grow) == fits);
    CHECK(is_reshapable(from, to, reshaping::any) == (from.size() == to.size()));
    CHECK((cairn::detail::reshaping_advice(from, to).find("grow") != std::string_view::npos) == fits);
  }
}

TEST_CASE("an element and a container of one differ by a dimension of 1 in front") {
  for (const auto& shape : {extents{}, extents{3}, extents{1, 2}}) {
    extents held = shape;
    held.insert(held.begin(), 1);
    CHECK(differ_by_container(shape, held));
    CHECK(differ_by_container(held, shape));
    held.front() = 2;
    CHECK_FALSE(differ_by_container(shape, held));
    CHECK_FALSE(differ_by_container(shape, shape));
  }
  CHECK_FALSE(differ_by_container({2}, {2, 1}));
  CHECK_FALSE(differ_by_container({2}, {1, 1, 2}));
}

TEST_CASE("the overlap of a view has the elements whose indices are in both shapes") {
  std::vector<std::int32_t> numbers(5 * 7);
  std::iota(numbers.begin(), numbers.end(), 0);
  const cairn::detail::memory_view view{cairn::dtype::i32, {5, 7}, reinterpret_cast<std::byte*>(numbers.data()), {}};
  for (std::uint64_t rows = 0; rows < 7; ++rows)
    for (std::uint64_t columns = 0; columns < 9; ++columns) {
      const auto part = cairn::detail::overlap_of(view, {rows, columns});
      const std::uint64_t r = std::min<std::uint64_t>(rows, 5), c = std::min<std::uint64_t>(columns, 7);
      CHECK(part.shape == extents{r, c});
      std::vector<std::int32_t> found(r * c), expected;
      cairn::detail::gather(part, 0, std::as_writable_bytes(std::span(found)));
      for (std::uint64_t i = 0; i < r; ++i)
        for (std::uint64_t j = 0; j < c; ++j) expected.push_back(static_cast<std::int32_t>(i * 7 + j));
      CHECK(found == expected);
    }
}
