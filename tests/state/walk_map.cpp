// SPDX-License-Identifier: MIT
#include "cairn/state/walk_container.hpp"

#include <boost/container/flat_map.hpp>

#include "catch.hpp"
#include "state/refuses.hpp"
#include "store/sample.hpp"

namespace {

struct moments {
  std::vector<float> m;
  std::vector<float> v;
  friend bool operator==(const moments&, const moments&) = default;
};

TEST_CASE("entries with arrays have the paths of their keys") {
  const std::map<std::string, moments> state{{"conv1.weight", {{1}, {2}}}, {"fc", {{}, {}}}};
  const tests::kept kept(state);
  CHECK(kept.paths() == "conv1.weight.m conv1.weight.v fc.m fc.v");
  CHECK(kept.contents.structure.at("value").keys == std::vector<std::string>{"conv1.weight", "fc"});
}

TEST_CASE("the entries of a lazily made optimizer are created, and old ones go") {
  const std::unordered_map<std::string, moments> original{{"a", {{1, 2}, {3}}}, {"b", {{4}, {}}}};
  std::unordered_map<std::string, moments> fresh{{"b", {{9}, {9}}}, {"c", {{5}, {5}}}};
  CHECK(tests::comes_back(original, fresh));
  CHECK(fresh == original);
}

TEST_CASE("the order of an unordered container does not show in the bytes") {
  std::unordered_map<std::string, moments> forward;
  std::unordered_map<std::string, moments> backward(1000);
  std::unordered_set<int> up;
  std::unordered_set<int> down(1000);
  for (int i = 0; i < 100; ++i) {
    forward[std::to_string(i)].m = {static_cast<float>(i)};
    backward[std::to_string(99 - i)].m = {static_cast<float>(99 - i)};
    up.insert(i);
    down.insert(99 - i);
  }
  CHECK(tests::kept(forward) == tests::kept(backward));
  CHECK(tests::kept(up) == tests::kept(down));
}

TEST_CASE("two keys that lead to one path are refused") {
  struct state {
    std::map<std::string, moments> a;
  };
  std::map<std::string, std::map<std::string, moments>> both;
  both["x"]["y.z"];
  both["x.y"]["z"];
  CHECK_THROWS_WITH(cairn::detail::describe(both), ContainsSubstring("x.y.z"));
}

TEST_CASE("a text that is a key twice is corrupt: no map has that") {
  tests::kept kept(std::map<int, moments>{{1, {}}});
  kept.contents.structure.at("value").keys = {"1", "1"};
  std::map<int, moments> fresh{{5, {}}};
  tests::refuses(kept, fresh, cairn::errc::corrupt, "value in kept has the key '1', twice");
  CHECK(fresh.contains(5));
}

TEST_CASE("keys of another type do not fit the map") {
  struct before {
    int first = 1;
    std::map<std::string, moments> m;
  };
  struct after {
    int first = 0;
    std::map<std::int8_t, moments> m;
  };
  for (const auto* const key : {"x", "128", "99999999999999", "1 ", "01", ""}) {
    const tests::kept kept(before{1, {{"7", {}}, {key, {}}}});
    after fresh{0, {{5, {}}}};
    tests::refuses(kept, fresh, cairn::errc::mismatch,
                   "kept does not fit the state: m has the key '" + std::string(key) +
                       "' in the checkpoint, which is not a key of that map; convert it in cairn_migrate, or leave it "
                       "out with filter. Nothing was changed");
    CHECK(fresh.m.contains(5));
    const auto report =
        kept.load(fresh, {.rename = {}, .filter = [](std::string_view path) { return path == "first"; }});
    CHECK(report.loaded == std::vector<std::string>{"first"});
    CHECK(fresh.first == 1);
  }
  after fresh;
  tests::kept(before{1, {{"7", {}}}}).load(fresh);
  CHECK(fresh.m.contains(7));
}

TEST_CASE("columns that are no map, or have a key twice, do not fit") {
  struct columns {
    std::vector<int> key, value;
  };
  std::map<int, int> fresh{{7, 7}};
  tests::refuses(cairn::detail::describe(columns{{1, 2}, {3}}), fresh, cairn::errc::mismatch,
                 "value in kept: has 2 keys and 1 values in the checkpoint, so it is no map there; leave it out with "
                 "filter");
  tests::refuses(
      cairn::detail::describe(columns{{1, 1}, {3, 4}}), fresh, cairn::errc::mismatch,
      "value in kept: has 2 keys or elements in the checkpoint, of which the container in the state takes 1, "
      "as some are equal; a vector, a multiset or a multimap takes them all, or leave them out with filter");
  tests::refuses(cairn::detail::describe(std::multimap<int, int>{{1, 2}, {1, 3}}), fresh, cairn::errc::mismatch,
                 "as some are equal");
  CHECK(fresh == std::map<int, int>{{7, 7}});
}

TEST_CASE("elements that are equal in a set do not fit") {
  std::set<int> numbers{7};
  std::unordered_set<std::string> names{"z"};
  tests::refuses(cairn::detail::describe(std::vector<int>{3, 3}), numbers, cairn::errc::mismatch, "as some are equal");
  tests::refuses(cairn::detail::describe(std::multiset<std::string>{"a", "a"}), names, cairn::errc::mismatch,
                 "as some are equal");
  CHECK(numbers == std::set<int>{7});
  CHECK(names.size() == 1);
}

TEST_CASE("values with paths of their own may have any key, also one that occurs twice") {
  struct state {
    std::map<double, std::unique_ptr<moments>> by_rate;
    std::multimap<std::string, std::unique_ptr<int>> multi;
    std::unordered_multimap<int, std::vector<int>> hashed;
    std::map<std::vector<int>, float> by_list;
    boost::container::flat_map<double, std::vector<int>> flat;
  };
  state original;
  original.by_rate[0.5] = std::make_unique<moments>(moments{{1}, {2}});
  original.by_rate[-2] = nullptr;
  original.by_rate[7] = std::make_unique<moments>();
  for (const int each : {3, 1, 2}) original.multi.emplace("k", std::make_unique<int>(each));
  original.multi.emplace("a.b", nullptr);
  for (const int each : {5, 4, 6}) original.hashed.insert({each % 2, {each}});
  original.by_list[{1, 2}] = 3;
  original.flat = {{1.5, {1}}, {0.5, {2, 3}}, {2.5, {}}};
  const tests::kept kept(original);
  CHECK(kept.contents.structure.at("by_rate").number == 3);
  CHECK(kept.contents.find("by_rate.1.first") != cairn::detail::catalog::npos);
  CHECK(kept.contents.find("by_rate.1.second.m") != cairn::detail::catalog::npos);
  state fresh;
  for (const double key : {0.5, 1.0, 3.0}) fresh.by_rate[key] = std::make_unique<moments>(moments{{9}, {9}});
  fresh.multi.emplace("k", nullptr);
  fresh.hashed.insert({{1, {1}}, {1, {2}}, {0, {3}}});
  fresh.by_list[{9}] = 9;
  fresh.flat[7] = {7};
  for (int i = 0; i < 2; ++i) {  // the second load finds the same keys
    CHECK(tests::comes_back(original, fresh));
    CHECK(*fresh.by_rate[0.5] == *original.by_rate[0.5]);
    CHECK(fresh.by_rate[-2] == nullptr);
    CHECK(*std::next(fresh.multi.begin())->second == 3);
    CHECK(fresh.by_list == original.by_list);
    CHECK(fresh.flat == original.flat);
  }
  const auto* const kept_object = fresh.by_rate[0.5].get();
  const auto report = kept.load(fresh);
  CHECK(fresh.by_rate[0.5].get() == kept_object);  // filled where it is
  CHECK(report.resized.empty());
}

TEST_CASE("a map whose values the load cannot make takes them only for the keys that it has") {
  struct rate {
    std::string text;
    explicit rate(std::string t) : text(std::move(t)) {}
    static auto cairn_fields() { return cairn::fields<&rate::text>{}; }
  };
  struct state {
    std::map<double, rate> numbers;
    std::map<std::string, rate> names;
  };
  state original;
  original.numbers.emplace(1.5, rate("a"));
  original.names.emplace("b", rate("c"));
  const tests::kept kept(original);
  state same;
  same.numbers.emplace(1.5, rate(""));
  same.names.emplace("b", rate(""));
  kept.load(same);
  CHECK(same.numbers.at(1.5).text == "a");
  state other;
  other.numbers.emplace(2.5, rate("z"));
  const auto failure = sample::failure_of([&] { kept.load(other); });
  CHECK(failure.code == cairn::errc::mismatch);
  CHECK(failure.says("numbers has other keys in the checkpoint"));
  CHECK(failure.says("names.b has to be made by the load"));
  CHECK_FALSE(failure.says("strict"));
  CHECK(other.numbers.at(2.5).text == "z");
  CHECK(other.names.empty());
}

TEST_CASE("a key that occurs twice in a map of objects does not fit, and is found before the state is changed") {
  const std::map<double, std::vector<int>> original{{1, {1}}, {2, {2}}};
  tests::kept kept(original);
  kept.bytes.at("1.first") = kept.bytes.at("0.first");
  std::map<double, std::vector<int>> fresh{{7, {7}}};
  tests::refuses(
      kept, fresh, cairn::errc::mismatch,
      "value in kept: has 2 keys or elements in the checkpoint, of which the container in the state takes 1");
  CHECK(fresh == std::map<double, std::vector<int>>{{7, {7}}});
}

TEST_CASE("a comparator that throws leaves the state as it was") {
  struct nervous {
    bool calm = true;
    bool operator()(const std::string& a, const std::string& b) const {
      if (!calm) throw std::runtime_error("too nervous");
      return a < b;
    }
  };
  struct state {
    std::vector<int> first;
    std::map<std::string, std::vector<int>, nervous> map;
  };
  state original{{1}, {}};
  original.map["a"] = {1};
  original.map["b"] = {2};
  const tests::kept kept(original);
  state fresh{{9, 9}, std::map<std::string, std::vector<int>, nervous>(nervous{false})};
  fresh.map["c"] = {3};  // the first element is not compared
  tests::refuses(kept, fresh, cairn::errc::invalid, "kept cannot be loaded: map: too nervous");
  CHECK(fresh.first == std::vector<int>{9, 9});
  CHECK(fresh.map.size() == 1);
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
std::string lower(std::string text) {
  for (char& c : text) c = lower(c);
  return text;
}
struct lower_hash {
  std::size_t operator()(const std::string& text) const { return std::hash<std::string>{}(lower(text)); }
};
struct lower_equal {
  bool operator()(const std::string& a, const std::string& b) const { return lower(a) == lower(b); }
};
struct lower_less {
  bool operator()(const std::string& a, const std::string& b) const { return lower(a) < lower(b); }
};
using values = std::vector<float>;

TEST_CASE("keys that a comparator takes for equal keep their own values and spellings") {
  using any_case = std::unordered_multimap<std::string, values, lower_hash, lower_equal>;
  const any_case original{{"A", {1}}, {"B", {3}}, {"a", {2}}};
  any_case loaded{{"b", {}}};
  CHECK(tests::comes_back(original, loaded));

  std::map<std::string, values, lower_less> filled{{"a", {9}}};
  tests::kept(std::map<std::string, values, lower_less>{{"A", {1}}}).load(filled);
  CHECK(filled.begin()->first == "A");
  CHECK(filled.begin()->second == values{1});

  const tests::kept twice(std::map<std::string, values>{{"A", {1}}, {"a", {2}}});
  tests::refuses(twice, filled, cairn::errc::mismatch, "as some are equal");
  CHECK(filled.begin()->second == values{1});
  std::unordered_map<std::string, values, lower_hash, lower_equal> hashed;
  tests::refuses(twice, hashed, cairn::errc::mismatch, "as some are equal");
}

/// Of which two are equivalent if they have the same number.
struct of_number {
  int number;
  double weight;
  bool operator<(const of_number& other) const { return number < other.number; }
};

TEST_CASE("keys that are equal but not the same are those of the checkpoint") {
  std::map<double, values> zero{{0.0, {1}}};
  tests::kept(std::map<double, values>{{-0.0, {2}}}).load(zero);
  CHECK(std::signbit(zero.begin()->first));
  std::map<std::filesystem::path, values> paths{{"a/b", {1}}};
  tests::kept(std::map<std::filesystem::path, values>{{"a//b", {2}}}).load(paths);
  CHECK(paths.begin()->first.native() == "a//b");

  using pair = std::pair<double, int>;
  std::map<pair, values> pairs{{{0.0, 1}, {1}}};
  tests::kept(std::map<pair, values>{{{-0.0, 1}, {2}}}).load(pairs);
  CHECK(std::signbit(pairs.begin()->first.first));
  std::map<of_number, values> parts{{{1, 7}, {1}}};
  tests::kept(std::map<of_number, values>{{{1, 2.5}, {2}}}).load(parts);
  CHECK(parts.begin()->first.weight == 2.5);
}

TEST_CASE("a key that is not equal to itself comes back") {
  const double nan = std::nan("");
  const std::unordered_map<double, values> original{{nan, {1}}, {2.0, {2}}};
  std::unordered_map<double, values> loaded;
  tests::kept(original).load(loaded);
  REQUIRE(loaded.size() == 2);
  for (const auto& [key, value] : loaded) CHECK(value == (std::isnan(key) ? values{1} : values{2}));
}

struct explicit_key {
  std::string name{};
  explicit explicit_key() = default;
  explicit explicit_key(std::string n) : name(std::move(n)) {}
  auto operator<=>(const explicit_key&) const = default;
  static auto cairn_fields() { return cairn::fields<&explicit_key::name>{}; }
};

}  // namespace

TEST_CASE("keys may have an explicit default constructor") {
  std::map<explicit_key, int> original, loaded;
  original.emplace(explicit_key("a"), 1);
  tests::kept(original).load(loaded);
  CHECK(loaded == original);
}
