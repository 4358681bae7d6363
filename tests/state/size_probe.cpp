#include "cairn/state/size_probe.hpp"

#include <array>
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
