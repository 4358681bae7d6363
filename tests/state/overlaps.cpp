#include "cairn/state/overlaps.hpp"

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <boost/container/static_vector.hpp>

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

struct layer_then {
  values w;
};
struct layer_now {
  values weight;
  using cairn_changes = cairn::renamed<"weight", "w">;
};
struct sgd {
  int x = 0;
  friend bool operator==(const sgd&, const sgd&) = default;
};
struct adam {
  int steps = 1;
  values m;
  friend bool operator==(const adam&, const adam&) = default;
};

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
  check_refused<std::variant<sgd, adam>>(adam{1, {1}}, adam{1, values(100)}, sgd{});
  check_refused<std::vector<bool>>({true}, {false}, {true});
  check_refused<std::set<int>>({1}, {2}, {3});
  check_refused<std::map<int, double>>({{1, 2}}, {{1, 3}}, {{1, 4}});
  using room = boost::container::static_vector<values, 4>;
  check_refused<room>({{1}, {2}}, {{1}, values(100)}, {{1}});
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

TEST_CASE("an object is known behind a pointer, and by the former name of a member") {
  values x{1}, y(100);
  const tests::kept two(cairn::detail::describe(cairn::state{{"a", x}, {"b", y}}));
  auto owner = std::make_unique<values>();
  cairn::state through{{"a", owner}, {"b", *owner}};
  CHECK_THROWS_WITH(two.load(through), Catch::Matchers::ContainsSubstring("b is the object at a"));

  layer_then small{{1}}, large{values(100)};
  const tests::kept former(cairn::detail::describe(cairn::state{{"a", small}, {"b", large}}));
  layer_now tied;
  cairn::state renamed{{"a", tied}, {"b", tied}};
  CHECK_THROWS_WITH(former.load(renamed), Catch::Matchers::ContainsSubstring("is the object at"));
}

TEST_CASE("tied objects load where the checkpoint has one, or the load takes one") {
  auto saved = std::make_unique<values>(3), loaded = std::make_unique<values>(2);
  const tests::kept kept(cairn::detail::describe(cairn::state{{"head", *saved}, {"p", saved}}));
  cairn::state same{{"head", *loaded}, {"p", loaded}};
  kept.load(same);
  CHECK(loaded->size() == 3);

  values x{1, 2}, z;
  cairn::state missing{{"m", z}, {"head", z}};
  const auto report = tests::kept(cairn::detail::describe(cairn::state{{"m", x}}))
                          .load(missing, {.strict = false, .rename = {}, .filter = {}});
  CHECK(z == x);
  CHECK(report.missing == std::vector<std::string>{"head"});

  std::vector<adam> a{{1, {1}}}, b{{2, {1}}}, one;
  cairn::state twice{{"a", one}, {"b", one}};
  tests::kept(cairn::detail::describe(cairn::state{{"a", a}, {"b", b}}))
      .load(twice, {.rename = {}, .filter = [](std::string_view path) { return path != "b.0.steps"; }});
  CHECK(one == a);
}

TEST_CASE("shared objects may be shared in another way than in the checkpoint") {
  using shared = std::shared_ptr<values>;
  const auto make = [](std::size_t size) { return std::make_shared<values>(size); };
  const shared a = make(2), n = make(2), x = make(5), y = make(4);
  const std::vector<shared> saved{a, a, make(3)};
  const tests::kept kept(cairn::detail::describe(saved));
  for (const std::vector<shared>& before :
       {std::vector<shared>{n, x, x}, {x, x, y}, {x, x, x}, {x, y, x}, {nullptr, x, x}}) {
    auto state = before;
    kept.load(state);
    CHECK((state[0] == state[1] && state[1] != state[2]));
    CHECK((state[0]->size() == 2 && state[2]->size() == 3));
  }
}
