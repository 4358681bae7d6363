// SPDX-License-Identifier: MIT
#include "cairn/plan/record_columns.hpp"

#include "cairn/state/describe.hpp"
#include "catch.hpp"

using cairn::detail::columns_of;
using list = std::vector<cairn::detail::record_columns>;

namespace {

struct point {
  float x = 0, y = 0;
};
struct particle {
  std::array<double, 3> at{};
  point spin{};
  std::uint8_t kind = 0;
};
struct wide {  // 4,096 bytes of leaves
  std::array<float, 1023> values{};
  float scale = 0;
};
struct wider {
  std::array<float, 1024> values{};
  float scale = 0;
};
struct triangle {
  float weight = 0;
  std::array<point, 3> corners{};
};
struct cloud {
  std::array<point, 1000> all{};
  float weight = 0;
};

struct state {
  std::vector<float> first = std::vector<float>(10);
  std::vector<particle> particles = std::vector<particle>(5);                         // 1 to 4
  std::vector<std::array<point, 3>> nested{4};                                        // 5, 6
  std::vector<std::tuple<int, int>> none{};                                           // 7, 8
  std::map<std::string, point> by_name{{"a", {}}, {"b", {}}};                         // 9 to 12: ends, text, x, y
  std::vector<std::array<float, 2>> alone = std::vector<std::array<float, 2>>(6);     // 13
  std::vector<std::vector<point>> two{std::vector<point>(3), std::vector<point>(3)};  // 14 to 17
  point single{};                                                                     // 18, 19
};

}  // namespace

TEST_CASE("the columns of each array of records are found") {
  const state all;
  const auto leaves = cairn::detail::describe(all).leaves;
  std::map<std::string, std::size_t> number;
  for (std::size_t i = 0; i < leaves.size(); ++i) number[leaves[i].path] = i;
  REQUIRE(leaves.size() == 20);
  CHECK(columns_of(leaves) == list{{number["particles.at"], 4, 5},
                                   {number["nested.x"], 2, 12},
                                   {number["by_name.value.x"], 2, 2},
                                   {number["two.0.x"], 2, 3},
                                   {number["two.1.x"], 2, 3}});
}

TEST_CASE("the columns of a whole state, and none of a state without arrays of records") {
  CHECK(columns_of(cairn::detail::describe(std::vector<point>(7)).leaves) == list{{0, 2, 7}});
  CHECK(columns_of(cairn::detail::describe(point{}).leaves).empty());
  CHECK(columns_of({}).empty());
}

TEST_CASE("columns with arrays of records in them are columns of the records that all have in common") {
  CHECK(columns_of(cairn::detail::describe(std::vector<triangle>(5)).leaves) == list{{0, 3, 5}});
  struct corners_first {
    std::array<point, 3> corners{};
    float weight = 0;
  };
  CHECK(columns_of(cairn::detail::describe(std::vector<corners_first>(5)).leaves) == list{{0, 3, 5}});
}

TEST_CASE("records that are too large are no unit, but smaller ones in them are") {
  CHECK(columns_of(cairn::detail::describe(std::vector<wide>(3)).leaves) == list{{0, 2, 3}});
  CHECK(columns_of(cairn::detail::describe(std::vector<wider>(3)).leaves).empty());
  CHECK(columns_of(cairn::detail::describe(std::vector<cloud>(3)).leaves) == list{{0, 2, 3000}});
  CHECK(columns_of(cairn::detail::describe(std::vector<std::array<point, 10'000>>(2)).leaves) == list{{0, 2, 20'000}});
}

TEST_CASE("columns do not depend on addresses, nor on the size of records in memory") {
  struct pair {
    float a;
    double b;
  };
  const std::vector<pair> one(100), other(100);
  CHECK(columns_of(cairn::detail::describe(one).leaves) == columns_of(cairn::detail::describe(other).leaves));
  auto copied = cairn::detail::describe(one).leaves;  // as if each column had memory of its own
  for (auto& each : copied) each.strides.clear();
  CHECK(columns_of(copied) == list{{0, 2, 100}});
}
