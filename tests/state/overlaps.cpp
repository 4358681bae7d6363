#include "cairn/state/overlaps.hpp"

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cairn/state/state.hpp"
#include "catch.hpp"
#include "state/kept.hpp"

namespace {

using values = std::vector<float>;

/// Loads two saved objects into one object under two names.
template <class T>
void check_refused(T a, T b, T into) {
  const auto before = into;
  const tests::kept kept(cairn::detail::describe(cairn::state{{"a", a}, {"b", b}}));
  cairn::state same{{"a", into}, {"b", into}};
  CHECK_THROWS_WITH(kept.load(same), Catch::Matchers::ContainsSubstring("is the object at a"));
  CHECK(into == before);
  kept.load(same, {.rename = {}, .filter = [](std::string_view path) { return path.starts_with("a"); }});
  CHECK(into == a);
}

}  // namespace

TEST_CASE("one object under two names cannot be two objects of the checkpoint") {
  check_refused<values>({1, 2}, {1, 2, 3}, {1});
  check_refused<values>({1, 2}, {1, 2, 3}, {});
  check_refused<values>({1, 2}, {3, 4}, {});
  check_refused<values>({1, 2}, {3, 4, 5}, {7, 8});
  check_refused<values>(values(100'000), values(200'000), {1});
  check_refused<std::map<std::string, values>>({{"x", {1}}}, {{"y", {1}}}, {{"z", {}}});
  check_refused<std::map<double, values>>({{1, {1}}}, {{2, {1}}}, {{3, {}}});
  check_refused<std::list<values>>({{1, 2}}, {{1}}, {{3}});
  check_refused<std::optional<values>>(values{1}, std::nullopt, values{2, 3});
  check_refused<std::optional<values>>(values{1}, std::nullopt, std::nullopt);
  check_refused<std::variant<values, std::string>>(values{1}, "text", "");
}

TEST_CASE("one object under two names is saved once, and loaded into one") {
  struct layer {
    values weight;
    std::map<std::string, values> buffers;
    std::optional<values> bias;
  };
  layer saved{{1, 2}, {{"mean", {3}}}, values{4}}, loaded;
  const tests::kept kept(cairn::detail::describe(cairn::state{{"a", saved}, {"b", saved}}));
  cairn::state same{{"a", loaded}, {"b", loaded}};
  kept.load(same);
  CHECK(loaded.weight == values{1, 2});
  CHECK(loaded.buffers == saved.buffers);
  CHECK(loaded.bias == saved.bias);
}
