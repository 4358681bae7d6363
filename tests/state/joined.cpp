// SPDX-License-Identifier: MIT
#include "cairn/state/joined.hpp"

#include <array>
#include <chrono>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <variant>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "state/kept.hpp"
#include "state/refuses.hpp"

#include "cairn/fields.hpp"

namespace {

struct point {
  float x = 0;
  std::int16_t y = 0;
  friend bool operator==(const point&, const point&) = default;
};
struct branch {
  std::vector<std::uint8_t> bytes;
  std::optional<std::string> name;
  friend bool operator==(const branch&, const branch&) = default;
};
struct record {
  std::vector<float> values;
  int id = 0;
  std::string text;
  bool flag = false;
  std::vector<point> points;
  std::vector<std::string> tags;
  std::optional<std::vector<double>> extra;
  std::optional<point> place;
  std::vector<std::vector<int>> nested;
  std::array<std::vector<std::uint8_t>, 2> pair;
  std::list<branch> branches;
  std::deque<short> deque;
  std::set<int> set;
  std::map<std::string, float> table;
  std::vector<bool> bits;
  std::complex<double> z;
  std::array<point, 2> fixed;
  std::pair<int, std::vector<long>> two;
  std::optional<std::optional<int>> maybe;
  friend bool operator==(const record&, const record&) = default;
};

class source {
 public:
  explicit source(unsigned seed) : random_(seed) {}
  std::size_t below(std::size_t n) { return random_() % n; }
  void fill(auto& number)
  requires(std::is_arithmetic_v<std::remove_reference_t<decltype(number)>>)
  {
    number = static_cast<std::remove_reference_t<decltype(number)>>(random_() % 100);
  }
  void fill(bool& flag) { flag = below(2) == 1; }
  void fill(std::string& text) { text = std::string(below(4), static_cast<char>('a' + below(26))); }
  void fill(point& p) { fill(p.x), fill(p.y); }
  void fill(std::complex<double>& z) { z = {static_cast<double>(below(9)), static_cast<double>(below(9))}; }
  void fill(branch& b) { fill(b.bytes), fill(b.name); }
  void fill(std::vector<bool>& bits) {
    bits.resize(below(4));
    for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = below(2) == 1;
  }
  void fill(std::set<int>& set) {
    set.clear();
    for (auto left = below(4); left > 0; --left) set.insert(static_cast<int>(below(50)));
  }
  template <class T>
  void fill(std::vector<T>& all) {
    fill_all(all);
  }
  template <class T>
  void fill(std::list<T>& all) {
    fill_all(all);
  }
  template <class T>
  void fill(std::deque<T>& all) {
    fill_all(all);
  }
  template <class T, std::size_t N>
  void fill(std::array<T, N>& all) {
    for (auto& each : all) fill(each);
  }
  template <class A, class B>
  void fill(std::pair<A, B>& two) {
    fill(two.first), fill(two.second);
  }
  template <class T>
  void fill(std::optional<T>& maybe) {
    maybe.reset();
    if (below(2) == 1) fill(maybe.emplace());
  }
  void fill(std::map<std::string, float>& table) {
    table.clear();
    for (auto left = below(4); left > 0; --left) {
      std::string key;
      fill(key);
      fill(table[key]);
    }
  }
  void fill(record& r) {
    fill(r.values), fill(r.id), fill(r.text), fill(r.flag), fill(r.points), fill(r.tags), fill(r.extra), fill(r.place);
    fill(r.nested), fill(r.pair), fill(r.branches), fill(r.deque), fill(r.set), fill(r.table), fill(r.bits), fill(r.z);
    fill(r.fixed), fill(r.two), fill(r.maybe);
  }
  template <class Container>
  Container make(std::size_t size) {
    Container all;
    all.resize(size);
    for (auto& each : all) fill(each);
    return all;
  }
  template <class Map>
  Map make_map(std::size_t size) {
    Map all;
    while (all.size() < size) {
      typename Map::key_type key{};
      if constexpr (std::is_integral_v<typename Map::key_type>)
        key = static_cast<typename Map::key_type>(random_());
      else
        key = std::to_string(random_() % 100000);
      fill(all[key]);
    }
    return all;
  }

 private:
  template <class T>
  void fill_all(T& all) {
    all.resize(below(4));
    for (auto& each : all) fill(each);
  }

  std::mt19937 random_;
};

bool is_joined(const tests::kept& kept, const std::string& path = "value") {
  const auto at = kept.contents.structure.find(path);
  return at != kept.contents.structure.end() && at->second.what == cairn::detail::structure_entry::kind::rows;
}

/// Loads `all` into each of `others`, and into an empty object.
template <class T>
void check_loads(const T& all, std::vector<T> others, bool joined) {
  const tests::kept kept(cairn::detail::describe(all));
  CHECK(is_joined(kept) == joined);
  others.emplace_back();
  for (auto& each : others) {
    kept.load(each);
    CHECK(each == all);
  }
}

template <class T>
void check_sizes(unsigned seed) {
  source from(seed);
  check_loads(from.make<T>(256), {from.make<T>(256), from.make<T>(300), from.make<T>(3)}, true);
  check_loads(from.make<T>(20), {from.make<T>(256), from.make<T>(20)}, false);
}

}  // namespace

TEST_CASE("vectors in a vector are joined") {
  std::vector<std::vector<float>> state(300);
  for (std::size_t i = 0; i < state.size(); ++i) state[i].assign(i % 5, static_cast<float>(i));
  const tests::kept kept(cairn::detail::describe(state));
  CHECK(kept.paths() == "ends value");
  CHECK(kept.contents.structure.at("value").number == 300);
  std::vector<std::vector<float>> fresh;
  kept.load(fresh);
  CHECK(fresh == state);
}

TEST_CASE("many small objects come back, joined or not, into objects of any size") {
  for (unsigned seed = 0; seed < 5; ++seed) {
    check_sizes<std::vector<record>>(seed);
    check_sizes<std::list<record>>(seed);
    check_sizes<std::vector<std::vector<branch>>>(seed);
    check_sizes<std::deque<std::optional<std::vector<std::string>>>>(seed);
    check_sizes<std::vector<std::vector<std::vector<point>>>>(seed);
    check_sizes<std::vector<std::vector<bool>>>(seed);
    check_sizes<std::vector<std::pair<int, std::optional<std::vector<int>>>>>(seed);
  }
}

TEST_CASE("maps of many small objects come back") {
  const auto check = []<class Map>(const Map*) {
    source from(7);
    const auto all = from.make_map<Map>(280), other = from.make_map<Map>(500), few = from.make_map<Map>(9);
    auto mixed = all;
    mixed.erase(mixed.begin());
    from.fill(mixed.begin()->second);
    check_loads(all, {other, few, mixed, all}, true);
    check_loads(few, {other, all}, false);
  };
  check(static_cast<const std::map<std::string, record>*>(nullptr));
  check(static_cast<const std::unordered_map<int, std::vector<float>>*>(nullptr));
  check(static_cast<const std::unordered_map<std::string, std::vector<std::vector<int>>>*>(nullptr));
}

namespace {

using words = std::vector<std::string>;
using rows = std::vector<std::vector<float>>;

rows make_rows(std::size_t count = 300) {
  rows all(count);
  for (std::size_t i = 0; i < count; ++i) all[i].assign(i % 4, static_cast<float>(i));
  return all;
}

template <class State>
std::string error_of(const tests::kept& kept, State& state,
                     const cairn::detail::match_options& options = tests::any_size) {
  try {
    kept.load(state, options);
  } catch (const cairn::error& failure) {
    return failure.what();
  }
  return {};
}

template <class T>
struct holder {
  T items;
};
template <class T>
holder(T) -> holder<T>;

}  // namespace

TEST_CASE("the paths of columns") {
  const holder<std::vector<branch>> state{std::vector<branch>(300, branch{{1, 2}, "x"})};
  const tests::kept kept(cairn::detail::describe(state));
  CHECK(kept.paths() ==
        "items.bytes.ends items.bytes.value items.name.engaged items.name.value.ends items.name.value.text");
  const holder<std::map<std::string, std::vector<int>>> map{
      source(1).make_map<std::map<std::string, std::vector<int>>>(300)};
  CHECK(tests::kept(cairn::detail::describe(map)).paths() ==
        "items.key.ends items.key.text items.value.ends items.value.value");
}

TEST_CASE("few or large objects have leaves of their own") {
  CHECK(is_joined(tests::kept(cairn::detail::describe(rows(256, {1})))));
  CHECK_FALSE(is_joined(tests::kept(cairn::detail::describe(rows(255, {1})))));
  CHECK(is_joined(tests::kept(cairn::detail::describe(rows(256, std::vector<float>(2046))))));
  CHECK_FALSE(is_joined(tests::kept(cairn::detail::describe(rows(256, std::vector<float>(2047))))));
  rows one_large(256, {1});
  one_large[7].resize(200'000);
  CHECK(is_joined(tests::kept(cairn::detail::describe(one_large))));
}

namespace {

struct pointed {
  std::vector<int> a;
  std::unique_ptr<int> b = std::make_unique<int>(3);
};
struct chosen {
  std::vector<int> a;
  std::variant<int, float> b;
};
struct versioned {
  static constexpr unsigned cairn_version = 2;
  std::vector<int> a;
};
struct empty {};
struct of_empty {
  std::vector<empty> a;
};
struct unmakeable {
  explicit unmakeable(int n) : a(static_cast<std::size_t>(n)) {}
  std::vector<int> a;
  static auto cairn_fields() { return cairn::fields<&unmakeable::a>{}; }
};

template <class T>
bool can_join(std::vector<T> all = std::vector<T>(300)) {
  return is_joined(tests::kept(cairn::detail::describe(all)));
}

}  // namespace

TEST_CASE("objects that need an entry of their own are not joined, and come back") {
  CHECK_FALSE(can_join<pointed>());
  CHECK_FALSE(can_join<chosen>());
  CHECK_FALSE(can_join<versioned>());
  CHECK_FALSE(can_join<std::vector<empty>>(std::vector<std::vector<empty>>(300, std::vector<empty>(2))));
  CHECK_FALSE(can_join<std::shared_ptr<int>>());
  CHECK_FALSE(can_join(std::vector<std::map<int, std::vector<int>>>(300, {{1, {2}}})));
  CHECK_FALSE(can_join<unmakeable>(std::vector<unmakeable>(300, unmakeable(2))));
  CHECK(can_join<std::vector<pointed>>());  // all are empty
  std::vector<chosen> all(300);
  all[5].b = 2.0F;
  const tests::kept kept(cairn::detail::describe(all));
  std::vector<chosen> fresh;
  kept.load(fresh);
  CHECK(std::get<float>(fresh[5].b) == 2.0F);
}

TEST_CASE("joined objects are not loaded into types that cannot be joined") {
  struct plain {
    std::vector<int> a;
    int b = 1;
  };
  const tests::kept kept(cairn::detail::describe(holder{std::vector<plain>(300)}));
  holder<std::vector<pointed>> state;
  CHECK(error_of(kept, state).find("items is stored with the parts of its objects joined") != std::string::npos);
  holder<std::array<pointed, 300>> array{};
  CHECK(error_of(kept, array).find("items is a container of 300 objects in the checkpoint and an array of 300") !=
        std::string::npos);
  holder<plain> one;
  CHECK(error_of(kept, one).find("items is a container of 300 objects in the checkpoint and one object") !=
        std::string::npos);
  holder<std::map<int, plain>> map;
  CHECK(error_of(kept, map).find("items is another kind of object") != std::string::npos);
  holder<std::vector<unmakeable>> unmakeables;
  CHECK(error_of(kept, unmakeables).find("default constructor") != std::string::npos);
}

TEST_CASE("a container of joined objects may have become an optional one, and the reverse") {
  const rows all = make_rows();
  holder<std::optional<rows>> maybe;
  tests::kept(cairn::detail::describe(holder{all})).load(maybe);
  CHECK(maybe.items == all);
  holder<rows> plain;
  tests::kept(cairn::detail::describe(maybe)).load(plain);
  CHECK(plain.items == all);
}

TEST_CASE("joined objects of other containers and numbers are loaded") {
  const rows all = make_rows();
  const tests::kept kept(cairn::detail::describe(holder{all}));
  holder<std::list<std::deque<float>>> list;
  kept.load(list);
  CHECK(std::equal(list.items.begin(), list.items.end(), all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }));
  holder<std::vector<std::vector<double>>> doubles;
  auto widening = tests::any_size;
  widening.convert = cairn::conversion::widening;
  CHECK(kept.load(doubles, widening).converted == std::vector<std::string>{"items.value"});
  REQUIRE(doubles.items.size() == 300);
  CHECK(doubles.items[7] == std::vector<double>(3, 7));
  holder<std::vector<std::vector<std::array<float, 2>>>> pairs;
  CHECK_FALSE(error_of(kept, pairs).empty());
}

namespace {

struct cached {
  std::vector<float> values;
  cairn::skip<std::string> cache;
};
class listed {
 public:
  std::vector<float> values_;
  int unlisted = 0;
  static auto cairn_fields() { return cairn::fields<&listed::values_>{}; }
};

}  // namespace

TEST_CASE("members of joined objects that are not state keep their values") {
  std::vector<cached> all(300);
  for (auto& each : all) each.values = {1, 2};
  const tests::kept kept(cairn::detail::describe(all));
  CHECK(is_joined(kept));
  std::vector<cached> state(300);
  for (auto& each : state) *each.cache = "kept";
  kept.load(state);
  CHECK(*state[299].cache == "kept");
  CHECK(state[299].values == std::vector<float>{1, 2});
  std::vector<listed> others(300);
  for (auto& each : others) each.unlisted = 5, each.values_ = {3};
  kept.load(others);
  CHECK(others[7].unlisted == 5);
  CHECK(others[7].values_ == std::vector<float>{1, 2});
}

namespace {

/// A number below 100, which its class does not take otherwise.
class checked {
 public:
  [[nodiscard]] int get() const {
    if (value_ < 0) throw std::runtime_error("too small");
    return value_;
  }
  void set(int value) {
    if (value >= 100) throw std::runtime_error("too large");
    value_ = value;
  }
  int value_ = 0;
};
struct with_checked {
  std::vector<int> values;
  std::vector<std::vector<checked>> inner;
};

}  // namespace

template <>
struct cairn::adapter<checked> {
  static int get(const checked& from) { return from.get(); }
  static void set(checked& to, int value) { to.set(value); }
};

namespace {

struct changing {
  std::vector<int> values;
  bool has_more = false;
  int more = 0;
};

}  // namespace

template <>
struct cairn::adapter<changing> {
  template <class Field>
  static void fields(changing& object, const Field& field) {
    field("values", object.values);
    if (object.has_more) field("more", object.more);
  }
};

namespace {

/// Its adapter passes another type under the same name where `is_wide` is set.
struct tagged {
  bool is_wide = false;
  std::vector<float> floats;
  std::vector<double> doubles;
  float narrow = 0;
  double wide = 0;
};

}  // namespace

template <>
struct cairn::adapter<tagged> {
  template <class Field>
  static void fields(tagged& object, const Field& field) {
    if (object.is_wide)
      field("values", object.doubles), field("number", object.wide);
    else
      field("values", object.floats), field("number", object.narrow);
  }
};

TEST_CASE("objects with another type under the same name are not joined, and not loaded from joined ones") {
  std::vector<tagged> all(300);
  for (auto& each : all) each.floats = {1, 2};
  CHECK(can_join(all));
  const tests::kept kept(cairn::detail::describe(all));
  all[7] = {.is_wide = true, .floats = {}, .doubles = {3, 4}, .narrow = 0, .wide = 0};
  CHECK_FALSE(can_join(all));
  for (const auto& doubles : {std::vector<double>{3, 4}, std::vector<double>{3}, std::vector<double>()}) {
    all[7].doubles = doubles;
    CHECK(error_of(kept, all).find("is of another type than that of other objects") != std::string::npos);
    CHECK(all[7].doubles == doubles);
  }
  CHECK(all[0].floats == std::vector<float>{1, 2});
}

TEST_CASE("objects that differ in their parts are not joined") {
  std::vector<changing> all(300);
  CHECK(can_join(all));
  all[0].has_more = true;
  CHECK_FALSE(can_join(all));
}

TEST_CASE("the error of an object that cannot be saved has its path") {
  holder<std::vector<with_checked>> state{std::vector<with_checked>(300)};
  state.items[77].inner = {{}, std::vector<checked>(2)};
  state.items[77].inner[1][1].value_ = -1;
  std::string message;
  try {
    static_cast<void>(cairn::detail::describe(state));
  } catch (const cairn::error& failure) {
    message = failure.what();
  }
  CHECK(message.find("items.77.inner.1") != std::string::npos);
}

TEST_CASE("a value that does not fit is found before joined objects change") {
  std::vector<with_checked> all(300);
  for (auto& each : all) {
    each.values = {1};
    each.inner = {{}, std::vector<checked>(2)};
    each.inner[1][1].set(7);
  }
  const tests::kept good(cairn::detail::describe(all));
  CHECK(is_joined(good));
  all[299].inner[1][0].value_ = 200;
  const tests::kept bad(cairn::detail::describe(all));
  for (const std::size_t size : {0U, 20U, 300U}) {
    std::vector<with_checked> state(size);
    CHECK(error_of(bad, state).find("too large") != std::string::npos);
    CHECK(state.size() == size);
    for (const auto& each : state) CHECK(each.values.empty());
    good.load(state);
    REQUIRE(state.size() == 300);
    CHECK(state[299].inner[1][1].get() == 7);
  }
}

TEST_CASE("joined objects are selected and renamed as one") {
  struct state {
    std::vector<branch> a;
    std::vector<int> b;
  };
  const state all{source(1).make<std::vector<branch>>(300), {1, 2}};
  const tests::kept kept(cairn::detail::describe(all));
  const auto filter = [](std::string_view part) {
    return cairn::detail::match_options{
        .rename = {}, .filter = [part](std::string_view path) { return !path.starts_with(part); }, .reshape = {}};
  };
  state without;
  kept.load(without, filter("a."));
  CHECK(without.a.empty());
  CHECK(without.b == all.b);
  CHECK(error_of(kept, without, filter("a.name")).find("a can only be loaded as a whole") != std::string::npos);
  struct other {
    std::vector<branch> c;
    std::vector<int> b;
  } renamed;
  kept.load(renamed, {.rename =
                          [](std::string_view path) {
                            return path[0] == 'c' ? "a" + std::string(path.substr(1)) : std::string(path);
                          },
                      .filter = {},
                      .reshape = {}});
  CHECK(renamed.c == all.a);
}

namespace {

struct former {
  std::vector<float> old_name;
  std::vector<int> gone;
  std::vector<branch> kept;
};
struct latter {
  std::vector<float> name;
  std::vector<int> added{4, 5};
  std::vector<branch> kept;
  using cairn_changes =
      cairn::changes<cairn::renamed<"name", "old_name">, cairn::added<"added">, cairn::removed<"gone">>;
};

}  // namespace

TEST_CASE("the class of joined objects may change") {
  std::vector<former> all(300);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = {std::vector<float>(i % 3, 1), {1}, std::vector<branch>(i % 2)};
  const tests::kept kept(cairn::detail::describe(holder{all}));
  holder<std::vector<latter>> state;
  const auto report = kept.load(state);
  CHECK(report.missing == std::vector<std::string>{"items.added"});
  REQUIRE(state.items.size() == 300);
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(state.items[i].name == all[i].old_name);
    CHECK(state.items[i].kept == all[i].kept);
    CHECK(state.items[i].added == std::vector<int>{4, 5});
  }
  struct more {
    std::vector<float> old_name;
    std::vector<int> gone, another{1};
    std::vector<branch> kept;
  };
  holder<std::vector<more>> strict;
  CHECK(error_of(kept, strict).find("items.another.ends is missing") != std::string::npos);
  auto lenient = tests::any_size;
  lenient.strict = false;
  kept.load(strict, lenient);
  CHECK(strict.items[299].another == std::vector<int>{1});
  CHECK(strict.items[299].kept == all[299].kept);
}

TEST_CASE("views of joined objects are refused where sizes change") {
  struct viewed {
    rows items;
    cairn::tensor_view<float> view;
  };
  viewed all{make_rows(), {}};
  all.view = {all.items[3].data(), {3}};
  const tests::kept kept(cairn::detail::describe(all));
  viewed state{make_rows(), {}};
  state.view = {state.items[3].data(), {3}};
  state.items[3] = {9, 9, 9};
  state.view = {state.items[3].data(), {3}};
  const float* const before = state.items[3].data();
  kept.load(state);
  CHECK(state.items == all.items);
  CHECK(state.items[3].data() == before);
  const auto is_refused = [&](const auto& change) {
    viewed other{make_rows(), {}};
    change(other.items);
    other.view = {other.items[3].data(), {3}};
    return error_of(kept, other).find("view refers to elements of items") != std::string::npos;
  };
  CHECK_FALSE(is_refused([](rows&) {}));
  CHECK(is_refused([](rows& all_rows) { all_rows[200].resize(50); }));
  CHECK(is_refused([](rows& all_rows) { all_rows.resize(301); }));
}

TEST_CASE("a joined object that another part of the state resizes keeps its memory") {
  rows all = make_rows(), other = make_rows();
  other[3] = {1, 2, 3, 4, 5};
  const tests::kept kept(cairn::detail::describe(cairn::const_state{{"one", other[3]}, {"all", all}}));
  cairn::state state{{"one", all[3]}, {"all", all}};
  CHECK(error_of(kept, state).find("is in two parts of the state") != std::string::npos);
}

namespace {

template <class T>
std::string error_of_shared_element(std::vector<T> items) {
  struct shared {
    std::vector<T> items;
    std::shared_ptr<T> pointer;
  };
  shared state{std::move(items), nullptr};
  state.pointer = std::shared_ptr<T>(std::make_shared<int>(1), &state.items[3]);
  try {
    static_cast<void>(cairn::detail::describe(state));
  } catch (const cairn::error& failure) {
    return failure.what();
  }
  return {};
}

}  // namespace

TEST_CASE("a shared object that is also an element is refused") {
  CHECK(error_of_shared_element(std::vector<branch>(300)).find("pointer is also at items.3 or") != std::string::npos);
  std::vector<std::vector<pointed>> last(300);
  last.back().resize(1);  // shows that they cannot be joined
  CHECK(error_of_shared_element(std::move(last)).find("pointer is also at items.3 or") != std::string::npos);
}

TEST_CASE("a heap of joined objects is arranged") {
  std::priority_queue<std::vector<int>> heap;
  for (int i = 0; i < 300; ++i) heap.push({i * 7 % 300, i});
  const tests::kept kept(cairn::detail::describe(heap));
  CHECK(is_joined(kept));
  std::priority_queue<std::vector<int>, std::vector<std::vector<int>>, std::greater<>> other;
  kept.load(other);
  CHECK(other.top() == std::vector<int>{0, 0});
}

namespace {

/// Replaces a column of a checkpoint.
template <class T>
void set_column(tests::kept& kept, const std::string& path, const std::vector<T>& values) {
  const auto index = kept.contents.find(path);
  REQUIRE(index != cairn::detail::catalog::npos);
  kept.contents.leaves[index].shape = {values.size()};
  auto& bytes = kept.bytes[path];
  bytes.resize(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
}

}  // namespace

TEST_CASE("columns that do not belong together change nothing") {
  using numbers = std::vector<std::uint64_t>;
  const holder all{rows(300, {1, 2})};
  numbers ends(300);
  for (std::size_t i = 0; i < 300; ++i) ends[i] = 2 * (i + 1);
  const auto refused = [&](const auto& spoil, cairn::errc code) {
    tests::kept kept(cairn::detail::describe(all));
    spoil(kept);
    for (const std::size_t size : {0U, 300U}) {
      holder state{rows(size, {7})};
      try {
        kept.load(state);
        return false;
      } catch (const cairn::error& failure) {
        if (failure.code() != code) return false;
      }
      if (state.items != rows(size, {7})) return false;
    }
    return true;
  };
  const auto with_ends = [&](numbers changed) {
    return [&, changed](tests::kept& kept) { set_column(kept, "items.ends", changed); };
  };
  auto descending = ends;
  std::swap(descending[3], descending[4]);
  auto too_many = ends, too_few = ends, short_list = ends, long_list = ends, huge = ends;
  too_many.back() = 601;
  too_few.back() = 599;
  short_list.pop_back();
  long_list.push_back(600);
  huge.back() = ~std::uint64_t{0};
  using enum cairn::errc;
  CHECK(refused(with_ends(descending), corrupt));
  CHECK(refused(with_ends(too_many), corrupt));
  CHECK(refused(with_ends(too_few), corrupt));
  CHECK(refused(with_ends(short_list), corrupt));
  CHECK(refused(with_ends(long_list), corrupt));
  CHECK(refused(with_ends(huge), corrupt));
  CHECK_FALSE(refused(with_ends(ends), corrupt));
  CHECK(refused([](tests::kept& kept) { kept.contents.structure.at("items").number = ~std::uint64_t{0}; }, corrupt));
  CHECK(refused([](tests::kept& kept) { kept.contents.leaves.erase(kept.contents.leaves.begin()); }, mismatch));
  CHECK(refused([](tests::kept& kept) { kept.contents.leaves.pop_back(); }, mismatch));
  CHECK(refused([](tests::kept& kept) { kept.contents.leaves.clear(); }, mismatch));
}

TEST_CASE("a load of spoiled columns gives an error or a state, and changes nothing before an error") {
  source from(11);
  const auto all = from.make<std::vector<record>>(256), before = from.make<std::vector<record>>(280);
  for (int round = 0; round < 150; ++round) {
    tests::kept kept(cairn::detail::describe(all));
    auto& leaf = kept.contents.leaves[from.below(kept.contents.leaves.size())];
    auto& bytes = kept.bytes[leaf.path];
    const auto width = cairn::size_of(leaf.type);
    switch (from.below(5)) {
      case 0:
        if (!bytes.empty()) bytes[from.below(bytes.size())] ^= std::byte{1};
        break;
      case 1:
        for (auto& each : bytes) each = static_cast<std::byte>(from.below(256));
        break;
      case 2:
        leaf.shape.front() += 1;
        break;
      case 3:
        if (leaf.shape.front() > 0) leaf.shape.front() -= 1;
        break;
      default:
        kept.contents.structure.at("value").number += 1;
    }
    bytes.resize(cairn::element_count(leaf.shape) * width);
    for (const bool is_filled : {true, false}) {
      auto state = is_filled ? before : std::vector<record>();
      const auto message = error_of(kept, state);
      CHECK(message.find("did not find") == std::string::npos);
      if (!message.empty()) CHECK(state == (is_filled ? before : std::vector<record>()));
    }
  }
}

TEST_CASE("joined objects without values are refused, however lenient the load is") {
  auto lenient = tests::any_size;
  lenient.strict = false;
  tests::kept kept(cairn::detail::describe(holder{rows(300, {1, 2})}));
  kept.contents.leaves.pop_back();
  holder<rows> state;
  CHECK(error_of(kept, state, lenient).find("items.value has 600 objects in the checkpoint, and no parts of them") !=
        std::string::npos);
  CHECK(state.items.empty());
}

TEST_CASE("joined keys are those of a map") {
  using map = std::map<int, std::vector<int>>;
  const auto all = source(3).make_map<map>(300);
  const auto refused = [&](const auto& spoil) -> std::string {
    tests::kept kept(cairn::detail::describe(holder{all}));
    spoil(kept);
    holder<map> state;
    const auto message = error_of(kept, state);
    CHECK(state.items.empty());
    return message;
  };
  std::vector<std::uint64_t> ends(300);
  for (std::size_t i = 0; i < 300; ++i) ends[i] = 3 * (i + 1);
  std::string twice, words;
  for (int i = 0; i < 300; ++i) twice += "777", words += i == 7 ? "two" : std::to_string(100 + i);
  const auto with_keys = [&](const std::string& text) {
    return [&](tests::kept& kept) {
      set_column(kept, "items.key.ends", ends);
      set_column(kept, "items.key.text", std::vector<char>(text.begin(), text.end()));
    };
  };
  CHECK(refused(with_keys(twice)).find("has the key '777', twice") != std::string::npos);
  CHECK(refused(with_keys(words)).find("has the key 'two' in the checkpoint") != std::string::npos);
  CHECK(refused([](tests::kept& kept) {
          std::erase_if(kept.contents.leaves, [](const auto& leaf) { return leaf.path.starts_with("items.key"); });
        }).find("another kind of object") != std::string::npos);
}

TEST_CASE("whether joined optionals have values is checked") {
  const holder<std::vector<branch>> all{source(5).make<std::vector<branch>>(300)};
  tests::kept kept(cairn::detail::describe(all));
  kept.bytes["items.name.engaged"][5] = std::byte{2};
  holder<std::vector<branch>> state;
  CHECK(error_of(kept, state).find("neither 0 nor 1") != std::string::npos);
}
