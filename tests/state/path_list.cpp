// SPDX-License-Identifier: MIT
#include "cairn/state/describer.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include "catch.hpp"

TEST_CASE("path_list keeps all paths in their order") {
  cairn::detail::path_list list;
  std::vector<std::string> expected;
  for (std::size_t i = 0; i < 1000; ++i) {
    expected.push_back(std::string(i % 40, 'x') + std::to_string(i / 2));
    if (i % 2 == 0)
      list.add_leaf(expected.back());
    else
      list.add(expected.back());
  }
  REQUIRE(list.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(list[i] == expected[i]);
}

TEST_CASE("path_list finds a second leaf of one path, but not a leaf with the path of an entry") {
  cairn::detail::path_list list;
  CHECK_FALSE(list.find_duplicate_leaf());
  list.add_leaf("");
  list.add("a.b");
  list.add("a.b");
  list.add_leaf("a.b");
  for (int i = 0; i < 100; ++i) list.add_leaf("c." + std::to_string(i));
  CHECK_FALSE(list.find_duplicate_leaf());
  SECTION("the path of the whole state") {
    list.add_leaf("");
    CHECK(list.find_duplicate_leaf() == "");
  }
  SECTION("any other") {
    list.add_leaf("c.37");
    list.add_leaf("d");
    CHECK(list.find_duplicate_leaf() == "c.37");
  }
}
