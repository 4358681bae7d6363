// SPDX-License-Identifier: MIT
#include "cairn/plan/partition.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "catch.hpp"
#include "store/sample.hpp"

using cairn::detail::record_columns;
using cairn::plan::leaf_size;
using cairn::plan::detail::item;
using cairn::plan::detail::item_list;

namespace {

using numbers = std::vector<std::vector<std::uint64_t>>;

numbers items_of(const item_list& list, std::size_t first, std::size_t end) {
  numbers all;
  list.for_each(first, end,
                [&](const item& each) { all.push_back({each.leaf, each.count, each.elements, each.bytes, each.row}); });
  return all;
}

void check_refused(std::vector<record_columns> columns, const std::string& text) {
  const auto failure = sample::failure_of(
      [&] { static_cast<void>(item_list({{6, 24, 1}, {12, 48, 2}, {7, 28, 1}}, std::move(columns))); });
  CHECK(failure.code == cairn::errc::invalid);
  CHECK(failure.says(text));
}

}  // namespace

TEST_CASE("an item is a leaf, or all columns of an array of records") {
  const item_list list({{5, 20, 1}, {24, 96, 12}, {12, 12, 6}, {0, 0, 1}, {7, 28, 0}, {0, 0, 1}, {4, 4, 2}},
                       {{1, 3, 12}, {5, 2, 4}});
  const numbers all{{0, 1, 5, 20, 1}, {1, 3, 12, 108, 6}, {4, 1, 7, 28, 0}, {5, 2, 4, 4, 1}};
  CHECK(items_of(list, 0, 7) == all);
  CHECK(items_of(list, 1, 5) == numbers{all[1], all[2]});
  CHECK(items_of(list, 1, 2) == numbers{all[1]});
  CHECK(items_of(list, 4, 4).empty());
  CHECK(items_of(list, 7, 7).empty());
  numbers again;
  list.for_each(
      [&](const item& each) { again.push_back({each.leaf, each.count, each.elements, each.bytes, each.row}); });
  CHECK(again == all);
  CHECK(list.leaves_at(0) == 1);
  CHECK(list.leaves_at(1) == 3);
  CHECK(list.leaves_at(4) == 1);
  CHECK(list.leaves_at(5) == 2);
  CHECK(list.leaves_at(7) == 1);
  CHECK(items_of(item_list({}, {}), 0, 0).empty());
}

TEST_CASE("columns that the leaves cannot have are refused") {
  check_refused({{0, 2, 5}}, "a column of 5 records has 6 elements");
  check_refused({{0, 3, 6}}, "a column of 6 records has 7 elements");
  check_refused({{0, 2, 0}}, "columns of 0 records");
  check_refused({{0, 1, 6}}, "cannot have 1 columns");
  check_refused({{2, 2, 1}}, "a plan of 3 leaves cannot have 2 columns of 1 records from leaf 2 on");
  check_refused({{4, 2, 1}}, "from leaf 4 on");
  check_refused({{0, 2, 6}, {1, 2, 1}}, "from leaf 1 on");
}

TEST_CASE("sizes of leaves, with rows along the slowest dimension that can be cut") {
  const auto leaf_of = [](cairn::dtype type, cairn::extents shape) {
    cairn::detail::leaf made;
    made.type = type;
    made.shape = std::move(shape);
    return made;
  };
  const std::vector<cairn::detail::leaf> leaves{
      leaf_of(cairn::dtype::f32, {6, 5, 2}), leaf_of(cairn::dtype::f64, {1, 1, 7, 3}), leaf_of(cairn::dtype::u8, {}),
      leaf_of(cairn::dtype::bf16, {9}),      leaf_of(cairn::dtype::f32, {4, 0}),       leaf_of(cairn::dtype::f32, {1})};
  const numbers wanted{{60, 240, 10}, {21, 168, 3}, {1, 1, 1}, {9, 18, 1}, {0, 0, 1}, {1, 4, 1}};
  const auto sizes = cairn::plan::sizes_of(leaves);
  REQUIRE(sizes.size() == wanted.size());
  for (std::size_t i = 0; i < sizes.size(); ++i)
    CHECK(std::vector{sizes[i].elements, sizes[i].bytes, sizes[i].row} == wanted[i]);
}
