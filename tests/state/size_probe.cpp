// SPDX-License-Identifier: MIT
#include "cairn/state/stored_state.hpp"

#include <array>
#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/state/describe.hpp"
#include "catch.hpp"
#include "state/kept.hpp"

namespace {

struct point {
  std::array<float, 2> at{};
  int label = 0;
};
struct labelled {
  int label = 0;
};
struct other {
  double none = 0;
};

struct old_row {
  float w = 5;
  float bias[3] = {1, 2, 3};
};
struct renamed_row {
  float weight = -1;
  float biases[3] = {};
  using cairn_changes = cairn::changes<cairn::renamed<"weight", "w">, cairn::renamed<"biases", "bias">>;
};
struct migrated_row {
  float a = -1;
  static constexpr unsigned cairn_version = 1;
  using cairn_changes = cairn::since<1, "a">;
  void cairn_migrate(cairn::stored_parts& from) { a = from.get<float>("none"); }
};
struct old_number {
  float none = 5;
};

}  // namespace

TEST_CASE("a container gets the size of the first column that is stored, or keeps its own") {
  const tests::kept kept(cairn::detail::describe(std::vector<point>(5)));
  std::vector<labelled> some(2);
  std::vector<other> none(2);
  const cairn::detail::match_options lenient{.strict = false, .rename = {}, .filter = {}};
  CHECK(kept.load(some, lenient).resized == std::vector<std::string>{"value"});
  CHECK(some.size() == 5);
  kept.load(none, lenient);
  CHECK(none.size() == 2);
}

TEST_CASE("a column without rows is one object; a reshaped container keeps its size, unless it is empty") {
  const tests::kept one(cairn::detail::describe(point{}));
  std::vector<point> points;
  one.load(points);
  CHECK(points.size() == 1);

  const tests::kept kept(cairn::detail::describe(std::vector<point>(5)));
  const cairn::detail::match_options any{
      .rename = {}, .filter = {}, .reshape = [](std::string_view) { return cairn::reshaping::any; }};
  kept.load(points, any);
  CHECK(points.size() == 1);
  points.clear();
  kept.load(points, any);
  CHECK(points.size() == 5);
}

TEST_CASE("one object becomes a container of one, also if its members were renamed or its class migrated") {
  std::vector<renamed_row> rows;
  tests::kept(cairn::detail::describe(old_row{})).load(rows);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].weight == 5);
  CHECK(rows[0].biases[2] == 3);
  const tests::kept number(cairn::detail::describe(old_number{}));
  for (const std::size_t before : {0U, 2U}) {
    std::vector<migrated_row> vector(before);
    std::list<migrated_row> list(before);
    number.load(vector);
    number.load(list);
    REQUIRE((vector.size() == 1 && list.size() == 1));
    CHECK((vector.front().a == 5 && list.front().a == 5));
  }
}

TEST_CASE("a reshaped container keeps its size also if its members were renamed") {
  const tests::kept kept(cairn::detail::describe(std::vector<old_row>(3)));
  std::vector<renamed_row> rows(2);
  kept.load(rows, {.rename = {}, .filter = {}, .reshape = [](std::string_view) { return cairn::reshaping::any; }});
  CHECK(rows.size() == 2);
}

TEST_CASE("one array of two names becomes a container of one under each") {
  const std::vector<float> array{1, 2};
  const tests::kept kept(cairn::detail::describe(cairn::const_state{{"x", array}, {"y", array}}));
  std::vector<std::vector<float>> x, y;
  cairn::state both{{"x", x}, {"y", y}};
  kept.load(both);
  CHECK(x == std::vector<std::vector<float>>{array});
  CHECK(y == x);
}
