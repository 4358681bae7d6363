// SPDX-License-Identifier: MIT
#include "cairn/state/overlaps.hpp"
#include "cairn/state/loader.hpp"

#include <algorithm>
#include <boost/container/static_vector.hpp>
#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cairn/core/error.hpp"
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
  kept.load(same, {.rename = {},
                   .filter = [](std::string_view path) { return path.starts_with("a"); },
                   .reshape = tests::any_size.reshape});
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

namespace {

struct node {
  int id = 0;
  std::shared_ptr<node> next;
  std::vector<std::shared_ptr<node>> out;
};

/// Nodes with random links, in random order. The links are cut at the end, since they may form cycles.
struct random_graph {
  random_graph(std::mt19937& random, int count) {
    for (int id = 0; id < count; ++id) all.push_back(std::make_shared<node>(node{id, nullptr, {}}));
    nodes = all;
    const auto any = [&] { return all[random() % all.size()]; };
    for (const auto& each : all) {
      if (random() % 2 == 0) each->next = any();
      for (auto links = random() % 4; links > 0; --links) each->out.push_back(any());
    }
    std::shuffle(all.begin(), all.end(), random);
  }
  random_graph(const random_graph&) = delete;
  random_graph& operator=(const random_graph&) = delete;
  ~random_graph() {
    nodes.insert(nodes.end(), all.begin(), all.end());
    for (const auto& each : nodes) *each = node{};
  }

  [[nodiscard]] std::string links() const {
    std::string text;
    for (const auto& each : all) {
      text += cairn::sentence({"\n", each->id, " next ", each->next ? each->next->id : -1, " out"});
      for (const auto& other : each->out) text += cairn::sentence({" ", other->id});
    }
    return text;
  }

  std::vector<std::shared_ptr<node>> all, nodes;
};

}  // namespace

TEST_CASE("a graph with cycles loads into every other graph of the same nodes") {
  std::mt19937 random(3);
  for (int i = 0; i < 400; ++i) {
    const int count = i % 2 == 0 ? 3 : 5;
    const random_graph saved(random, count);
    random_graph state(random, count);
    const tests::kept kept(cairn::detail::describe(saved.all));
    const auto before = state.links();
    INFO("saved" << saved.links() << "\nbefore" << before);
    kept.load(state.all);
    CHECK(state.links() == saved.links());
  }
}

namespace {

struct layer {
  values w;
  float b = 0;
};

struct renamed_holder {
  std::unique_ptr<layer> net;
  using cairn_changes = cairn::renamed<"net", "old">;
};

/// Loads `saved` into `into` while `part`, which is in memory of `into`, has a name of its own. Refused before a
/// change.
template <class Saved, class T, class Part>
void check_destroyed(const Saved& saved, T& into, Part& part) {
  const float rate = 7;
  const tests::kept kept(cairn::detail::describe(cairn::const_state{{"p", saved}, {"part", rate}}));
  cairn::state all{{"p", into}, {"part", part}};
  const float before = part;
  CHECK_THROWS_WITH(kept.load(all), Catch::Matchers::ContainsSubstring("part refers to elements of p"));
  CHECK(part == before);
}

}  // namespace

TEST_CASE("a part of what a load destroys cannot have another name") {
  {
    std::unique_ptr<layer> saved, into = std::make_unique<layer>();
    check_destroyed(saved, into, into->b);
  }
  {
    std::unique_ptr<const values> saved = std::make_unique<values>(2), into;
    auto* const inside = new values(2);
    into.reset(inside);
    check_destroyed(saved, into, inside->front());
  }
  {
    std::optional<values> saved, into = values(10);
    check_destroyed(saved, into, (*into)[3]);
  }
  {
    std::variant<values, std::string> saved = "text", into = values(10);
    check_destroyed(saved, into, std::get<0>(into)[3]);
  }
  {
    const auto one = std::make_shared<layer>();
    std::vector<std::shared_ptr<layer>> saved{one, one}, into{std::make_shared<layer>(), std::make_shared<layer>()};
    check_destroyed(saved, into, into[1]->b);
  }
  {
    std::list<float> saved{1}, into{1, 2, 3};
    check_destroyed(saved, into, into.back());
  }
  {
    std::vector<values> saved{values(3)}, into{values(3), values(3)};
    check_destroyed(saved, into, into[1][1]);
  }
  {
    std::map<std::string, values> saved{{"a", values(3)}}, into{{"b", values(3)}};
    check_destroyed(saved, into, into["b"][1]);
  }
  {
    std::map<std::vector<int>, values> saved{{{1}, values(3)}}, into{{{2}, values(3)}};
    check_destroyed(saved, into, into[{2}][1]);
  }
  {
    std::map<std::string, float> saved{{"a", 3}}, into{{"b", 4}};
    check_destroyed(saved, into, into["b"]);
  }
  {
    std::unique_ptr<std::map<std::string, float>> saved, into = std::make_unique<std::map<std::string, float>>();
    check_destroyed(saved, into, (*into)["b"]);
  }
}

TEST_CASE("a part of an object that several pointers share is in freed memory if all of them go") {
  std::vector<std::shared_ptr<layer>> saved(2), into(2, std::make_shared<layer>());
  into[0]->w = {1, 2};
  check_destroyed(saved, into, into[0]->w[1]);

  const auto outside = into[0];
  float part = 7;
  const tests::kept kept(cairn::detail::describe(cairn::const_state{{"p", saved}, {"part", part}}));
  cairn::state all{{"p", into}, {"part", outside->w[1]}};
  kept.load(all);
  CHECK(into == saved);
  CHECK(outside->w[1] == 7);
}

TEST_CASE("an object that aliasing pointers share is destroyed with the last of them") {
  struct outer {
    values more{1, 2};
    layer inside;
  };
  struct pointers {
    std::shared_ptr<outer> all;
    std::shared_ptr<layer> part;
  } saved, into;
  const auto* const all = (into.all = std::make_shared<outer>()).get();
  into.part = std::shared_ptr<layer>(into.all, &into.all->inside);
  check_destroyed(saved, into, const_cast<float&>(all->more[1]));
}

TEST_CASE("a view that looks into its own container is refused where that moves") {
  struct element {
    std::array<float, 4> own{};
    std::span<float> view;
  };
  std::vector<element> saved(3), into(2);
  for (auto& each : saved) each.view = each.own;
  for (auto& each : into) each.view = each.own;
  const tests::kept kept(saved);
  CHECK_THROWS_WITH(kept.load(into), ContainsSubstring("refers to elements of value, which the load destroys"));
  into.resize(3);
  for (auto& each : into) each.view = each.own;
  kept.load(into);
}

TEST_CASE("an entry of a map with the stored keys, and an element that stays, can have another name") {
  std::map<std::string, float> saved{{"rate", 0.5F}, {"loss", 2}}, into{{"rate", 0}, {"loss", 0}};
  const tests::kept map(cairn::detail::describe(cairn::state{{"metrics", saved}, {"rate", saved["rate"]}}));
  cairn::state metrics{{"metrics", into}, {"rate", into["rate"]}};
  const float* const place = &into["rate"];
  map.load(metrics);
  CHECK(into == saved);
  CHECK(place == &into["rate"]);

  std::list<float> few{1, 2}, many{3, 4, 5};
  const tests::kept list(cairn::detail::describe(cairn::state{{"all", few}, {"first", few.front()}}));
  cairn::state both{{"all", many}, {"first", many.front()}};
  list.load(both);
  CHECK(many == few);
}

TEST_CASE("a part of what a load makes anew cannot have another name, nor one of a member that was renamed") {
  {
    struct locked {
      values w;
      cairn::skip<std::mutex> mutex;
    };
    std::vector<locked> saved(3), into(2);
    for (auto& each : saved) each.w = {1};
    for (auto& each : into) each.w = {1};
    check_destroyed(saved, into, into[0].w[0]);
  }
  struct {
    std::unique_ptr<layer> old;
  } saved;
  renamed_holder into{std::make_unique<layer>()};
  check_destroyed(saved, into, into.net->b);
}

TEST_CASE("what a load keeps may have another name") {
  const float rate = 7;
  const tests::kept kept(cairn::detail::describe(cairn::const_state{{"rate", rate}}));
  const cairn::detail::match_options lenient{.strict = false, .rename = {}, .filter = {}};
  auto constant = std::make_unique<layer>();
  float& inside = constant->b;
  const std::unique_ptr<const layer> missing = std::move(constant);
  auto& pointer = const_cast<std::unique_ptr<const layer>&>(missing);
  cairn::state part{{"missing", pointer}, {"rate", inside}};
  kept.load(part, lenient);
  CHECK(inside == rate);

  values v(3);
  float other = 0;
  cairn::state twice{{"a", v}, {"b", v}, {"rate", other}};  // neither is stored
  kept.load(twice, lenient);
  CHECK(other == rate);

  // A shared object that one pointer drops, and another one keeps.
  const auto current = std::make_shared<layer>(), first = std::make_shared<layer>();
  current->w = {1, 2};
  std::vector<std::shared_ptr<layer>> before{first}, history{first, current};
  auto kept_by = current;
  std::span<float> all(current->w);
  const tests::kept shared(
      cairn::detail::describe(cairn::state{{"current", kept_by}, {"history", before}, {"view", all}}));
  for (const bool is_last : {false, true}) {
    cairn::state state = is_last ? cairn::state{{"history", history}, {"current", kept_by}, {"view", all}}
                                 : cairn::state{{"current", kept_by}, {"history", history}, {"view", all}};
    shared.load(state);
    CHECK(history.size() == 1);
    history.push_back(current);
  }

  // Keys with dots: "a" is removed, and "a.b" is kept.
  std::map<std::string, values> one{{"a.b", {1, 2}}}, two{{"a", {1}}, {"a.b", {3, 4}}};
  const tests::kept dots(cairn::detail::describe(cairn::state{{"m", one}, {"w", one["a.b"]}}));
  cairn::state dotted{{"m", two}, {"w", two["a.b"]}};
  dots.load(dotted);
  CHECK(two == one);
}

TEST_CASE("an object of three names is compared under each of them") {
  struct two {
    values x, y;
  };
  two a{{1}, {1, 2, 3}}, b{{1}, values(9)};
  values c(5);
  const tests::kept kept(cairn::detail::describe(cairn::state{{"c", c}, {"a", a}, {"b", b}}));
  two m{{1}, {1, 2, 3}};
  cairn::state all{{"c", m.y}, {"a", m}, {"b", m}};
  CHECK_THROWS_WITH(kept.load(all, {.rename = {}, .filter = [](std::string_view path) { return path != "a.y"; }}),
                    Catch::Matchers::ContainsSubstring("b.y is the object at c"));
  CHECK_THROWS_WITH(kept.load(all, {.rename = {}, .filter = [](std::string_view path) { return path != "c"; }}),
                    Catch::Matchers::ContainsSubstring("b.y is the object at a.y"));
}

namespace {

/// Gives copies of its pointers, one after another at the same address.
struct net {
  std::vector<std::shared_ptr<layer>> layers;
};

}  // namespace

template <>
struct cairn::adapter<net> {
  template <class Object, class Field>
  static void fields(Object& object, const Field& field) {
    int i = 0;
    for (std::shared_ptr<layer> each : object.layers) field("l" + std::to_string(i++), each);
  }
};

TEST_CASE("an adapter may pass copies of pointers") {
  const auto make = [](float b) { return std::make_shared<layer>(layer{{b}, b}); };
  const net saved{{make(1), make(2)}};
  net loaded{{make(0), make(0)}};
  tests::kept(cairn::detail::describe(saved)).load(loaded);
  CHECK(loaded.layers[0]->b == 1);
  CHECK(loaded.layers[1]->b == 2);
}

TEST_CASE("views of other types of the same bytes are arrays of their own") {
  std::vector<float> numbers{1, 2, 3};
  const std::span<std::uint32_t> bits(reinterpret_cast<std::uint32_t*>(numbers.data()), numbers.size());
  auto view = bits;
  const tests::kept kept(cairn::detail::describe(cairn::state{{"numbers", numbers}, {"bits", view}}));
  CHECK(kept.contents.leaves.size() == 2);
  std::vector<std::uint32_t> alone(3);
  cairn::state into{{"bits", alone}};
  kept.load(into, {.strict = false, .rename = {}, .filter = {}});
  CHECK(alone == std::vector<std::uint32_t>{0x3f800000, 0x40000000, 0x40400000});
}

namespace {

/// A value that is reached through a proxy, as of a device.
struct device {
  float value = 0;
};
struct proxy {
  device& of;
};

}  // namespace

template <>
struct cairn::adapter<proxy> {
  static float get(const proxy& at) { return at.of.value; }
  static void set(proxy& at, float value) { at.of.value = value; }
};
template <>
struct cairn::adapter<device> {
  template <class Object, class Field>
  static void fields(Object& object, const Field& field) {
    proxy at{const_cast<device&>(object)};
    field("v", at);
  }
};

TEST_CASE("an adapter may pass proxies with get and set, one after another at the same address") {
  const std::vector<device> saved{{1}, {2}};
  std::vector<device> loaded(2);
  tests::kept(cairn::detail::describe(saved)).load(loaded);
  CHECK(loaded[0].value == 1);
  CHECK(loaded[1].value == 2);
}

TEST_CASE("one pointer under two names cannot be two pointers of the checkpoint") {
  const auto check = [](auto a, auto b, auto into) {
    const tests::kept kept(cairn::detail::describe(cairn::state{{"a", a}, {"b", b}}));
    cairn::state same{{"a", into}, {"b", into}};
    CHECK_THROWS_WITH(kept.load(same), Catch::Matchers::ContainsSubstring("b is the object at a"));
  };
  using shared = std::shared_ptr<values>;
  check(std::make_shared<values>(1, 1.F), std::make_shared<values>(1, 2.F), std::make_shared<values>(1));
  check(std::make_shared<values>(1), shared(), std::make_shared<values>(1));
  std::unique_ptr<values> a = std::make_unique<values>(1), b, into = std::make_unique<values>(1);
  const tests::kept kept(cairn::detail::describe(cairn::state{{"a", a}, {"b", b}}));
  cairn::state same{{"a", into}, {"b", into}};
  CHECK_THROWS_WITH(kept.load(same), Catch::Matchers::ContainsSubstring("b is the object at a"));
}

namespace evolved {

struct old {
  values r;
};
struct now {
  values a;
  static constexpr unsigned cairn_version = 1;
  using cairn_changes = cairn::since<1, "a">;
  void cairn_migrate(cairn::stored_parts& from) { a = from.get<values>("r"); }
};
struct policy {
  static constexpr unsigned cairn_version = 1;
};
struct two_at_one_address {
  [[no_unique_address]] policy first;
  values second;
};

}  // namespace evolved

TEST_CASE("one object under two names, of which a member was renamed or which is of an older version") {
  layer_then then{{1, 2}};
  layer_now tied;
  cairn::state renamed{{"a", tied}, {"b", tied}};
  tests::kept(cairn::detail::describe(cairn::state{{"a", then}, {"b", then}})).load(renamed);
  CHECK(tied.weight == then.w);

  evolved::old before{{1, 2}};
  evolved::now after{{0}};
  cairn::state migrated{{"a", after}, {"b", after}};
  tests::kept(cairn::detail::describe(cairn::state{{"a", before}, {"b", before}})).load(migrated);
  CHECK(after.a == before.r);
}

TEST_CASE("two objects at one address are two objects") {
  const evolved::two_at_one_address saved{{}, {1, 2}};
  evolved::two_at_one_address loaded;
  tests::kept(cairn::detail::describe(saved)).load(loaded);
  CHECK(loaded.second == saved.second);
}

namespace {

struct not_ready {
  bool is_ready = false;
  values m;
};

}  // namespace

template <>
struct cairn::adapter<not_ready> {
  template <class Object, class Field>
  static void fields(Object& object, const Field& field) {
    if (field.purpose() == purpose::describe && !object.is_ready) throw std::runtime_error("not ready");
    field("m", object.m);
  }
};

TEST_CASE("a view of an object that only a weak pointer still leads to is refused") {
  struct tensor {
    std::vector<float> values;
  };
  struct state {
    std::shared_ptr<const tensor> owner;  // a load replaces the object
    std::weak_ptr<tensor> weak;
    std::span<float> view;
  };
  const auto other = std::make_shared<tensor>(tensor{{3, 4}});
  const tests::kept kept(state{std::make_shared<tensor>(tensor{{1, 2}}), other, other->values});
  auto object = std::make_shared<tensor>(tensor{{0, 0}});
  state into{object, object, object->values};
  object.reset();
  CHECK_THROWS_WITH(kept.load(into), Catch::Matchers::ContainsSubstring("refers to elements of owner"));
  CHECK(into.owner->values == std::vector<float>{0, 0});
}

TEST_CASE("a load does not describe the state, also where it frees memory") {
  not_ready saved{true, {1, 2}}, loaded;
  values x{1}, y{1, 2, 3};
  cairn::state all{{"o", loaded}, {"x", y}};
  tests::kept(cairn::detail::describe(cairn::state{{"o", saved}, {"x", x}})).load(all);
  CHECK(loaded.m == saved.m);
  CHECK(y == x);
}

TEST_CASE("arrays that overlap in memory conflict where their stored bytes differ") {
  std::mt19937 random(7);
  std::vector<std::byte> memory(64);
  for (int round = 0; round < 200; ++round) {
    cairn::detail::catalog from;
    std::vector<std::vector<std::byte>> values;
    cairn::detail::tied_arrays arrays;
    std::vector<std::size_t> begins;
    for (std::size_t i = 0; i < 6; ++i) {
      const std::size_t begin = random() % 48, size = random() % 16;
      from.leaves.push_back({std::to_string(i), cairn::dtype::u8, {size}});
      values.emplace_back(size, random() % 8 == 0 ? std::byte(random() % 2) : std::byte(0));
      begins.push_back(begin);
      arrays.add({cairn::dtype::u8, {size}, memory.data() + begin, {}}, nullptr, i);
    }
    from.fetch = [&](std::size_t i, std::span<std::byte> out) { std::ranges::copy(values[i], out.begin()); };
    // Bytes that no two arrays disagree about are what all of them write.
    bool differ = false;
    for (std::size_t i = 0; i < 6; ++i)
      for (std::size_t j = 0; j < i; ++j)
        for (std::size_t at = 0; at < memory.size(); ++at) {
          const auto has = [&](std::size_t k) { return at >= begins[k] && at - begins[k] < values[k].size(); };
          differ = differ || (has(i) && has(j) && values[i][at - begins[i]] != values[j][at - begins[j]]);
        }
    cairn::detail::fetched_leaves by;
    CHECK(arrays.find_conflicts(by, from).empty() != differ);
  }
}

TEST_CASE("numbers, parts of arrays and columns under two names cannot have two values") {
  struct point {
    double x = 0;
    int y = 0;
  };
  const auto message = Catch::Matchers::ContainsSubstring("share memory in the state but differ in the checkpoint");
  const auto check = [&](auto a, auto b, auto& into) {
    const tests::kept kept(cairn::detail::describe(cairn::state{{"a", a}, {"b", b}}));
    cairn::state same{{"a", into}, {"b", into}};
    CHECK_THROWS_WITH(kept.load(same), message);
    const tests::kept one(cairn::detail::describe(cairn::state{{"a", a}, {"b", a}}));
    one.load(same);
    return a;
  };
  double number = 5;
  CHECK(check(1.0, 2.0, number) == number);
  std::string text = "c";
  CHECK(check(std::string("a"), std::string("b"), text) == text);
  std::vector<point> points(2);
  check(std::vector<point>{{1, 2}, {3, 4}}, std::vector<point>{{1, 2}, {3, 5}}, points);
  CHECK(points[1].y == 4);

  std::vector<float> whole{1, 2, 3, 4}, values{3, 5};
  cairn::tensor_view<float> part(values.data(), {2});
  const auto save = [&] {
    return tests::kept(cairn::detail::describe(cairn::state{{"part", part}, {"whole", whole}}));
  };
  const tests::kept differ = save();
  values[1] = 4;
  const tests::kept fit = save();
  std::vector<float> into(4);
  cairn::tensor_view<float> tail(into.data() + 2, {2});
  cairn::state both{{"part", tail}, {"whole", into}};
  CHECK_THROWS_WITH(differ.load(both), message);
  CHECK(into == std::vector<float>(4));
  fit.load(both);
  CHECK(into == whole);
}
