// SPDX-License-Identifier: MIT
#include "cairn/state/walk_record.hpp"

#include "catch.hpp"
#include "state/kept.hpp"

// The types of a program before and after it changed them.
namespace before {

struct layer {
  std::vector<float> w;
  std::vector<float> momentum;
  int id = 0;
};
/// Of fixed layout.
struct row {
  std::array<float, 2> both{};
  std::int32_t millis = 0;
  std::int32_t kept = 0;
};
struct model {
  std::vector<float> both;  // weight, then bias
  std::int32_t millis = 0;
  std::string name;
};

}  // namespace before

namespace after {

struct layer {
  std::vector<float> weight;
  std::vector<float> bias = {7};
  int id = 0;
  using cairn_changes =
      cairn::changes<cairn::renamed<"weight", "kernel", "w">, cairn::added<"bias">, cairn::removed<"momentum">>;
};
class hidden_layer {
 public:
  std::vector<float>& weight() { return weight_; }
  [[nodiscard]] int id() const { return id_; }
  static auto cairn_fields() { return cairn::fields<&hidden_layer::weight_, &hidden_layer::id_>{}; }
  using cairn_changes = cairn::changes<cairn::renamed<"weight", "w">, cairn::removed<"momentum">>;

 private:
  std::vector<float> weight_;
  int id_ = 0;
};

struct row {
  double seconds = 0;
  std::int32_t kept = 0;
  float first = 0, second = 0;
  static constexpr unsigned cairn_version = 1;
  using cairn_changes = cairn::since<1, "seconds", "first", "second">;
  void cairn_migrate(cairn::stored_parts& old) {
    seconds = old.get<std::int32_t>("millis") / 1000.0;
    const auto both = old.get<std::array<float, 2>>("both");
    first = both[0];
    second = both[1];
    if (kept < 0) throw std::runtime_error("a negative number");
  }
};
struct model {
  std::vector<float> weight, bias;
  double seconds = 0;
  std::string name;
  static constexpr unsigned cairn_version = 3;
  using cairn_changes = cairn::since<2, "weight", "bias", "seconds">;
  void cairn_migrate(cairn::stored_parts& old) {
    if (old.version() >= 2) return;
    const auto both = old.get<std::vector<float>>("both");
    const auto half = both.begin() + static_cast<std::ptrdiff_t>(both.size() / 2);
    weight.assign(both.begin(), half);
    bias.assign(half, both.end());
    seconds = old.get<std::int32_t>("millis") / 1000.0;
    if (name == "refused") throw std::runtime_error("refused by the migration");
  }
};

}  // namespace after

namespace {

std::mt19937 random_numbers(1);
int some_number() { return static_cast<int>(random_numbers() % 100'000); }
std::vector<float> some_floats(std::size_t count) {
  std::vector<float> all(count);
  for (auto& each : all) each = static_cast<float>(some_number());
  return all;
}

before::row some_row() {
  return {{static_cast<float>(some_number()), static_cast<float>(some_number())}, some_number(), some_number()};
}
before::model some_model() { return {some_floats(2 * (random_numbers() % 5)), some_number(), "model"}; }
before::layer some_layer() {
  return {some_floats(random_numbers() % 5), some_floats(random_numbers() % 5), some_number()};
}

bool follows(const before::row& old, const after::row& now) {
  return now.seconds == old.millis / 1000.0 && now.first == old.both[0] && now.second == old.both[1] &&
         now.kept == old.kept;
}
bool follows(const before::model& old, const after::model& now) {
  auto both = now.weight;
  both.insert(both.end(), now.bias.begin(), now.bias.end());
  return both == old.both && now.weight.size() == now.bias.size() && now.seconds == old.millis / 1000.0 &&
         now.name == old.name;
}
bool follows(const before::layer& old, const after::layer& now) { return now.weight == old.w && now.id == old.id; }

/// All containers of a type that have a layout of their own.
template <class T>
struct nest {
  T one;
  std::vector<T> many;
  std::array<T, 2> two;
  std::deque<T> queue;
  std::map<std::string, T> named;
  std::map<int, std::vector<T>> lists;
  std::optional<T> maybe;
  std::unique_ptr<T> owned;
  std::shared_ptr<T> shared, same;
  std::variant<int, T> either;
  std::pair<int, T> pair;
  std::vector<std::array<T, 3>> grid;
  std::vector<std::pair<int, T>> pairs;
};

template <class T, class Make>
nest<T> make_nest(const Make& make) {
  nest<T> all;
  all.one = make();
  const auto few = [&] { return random_numbers() % 4; };
  for (auto n = few(); n > 0; --n) all.many.push_back(make());
  all.two = {make(), make()};
  for (auto n = few(); n > 0; --n) all.queue.push_back(make());
  for (auto n = few(); n > 0; --n) all.named[std::to_string(n)] = make();
  for (auto n = few(); n > 0; --n) all.lists[static_cast<int>(n)] = {make(), make()};
  if (few() > 0) all.maybe = make();
  if (few() > 0) all.owned = std::make_unique<T>(make());
  if (few() > 0) all.shared = all.same = std::make_shared<T>(make());
  if (few() > 0) all.either = make();
  all.pair = {some_number(), make()};
  for (auto n = few(); n > 0; --n) all.grid.push_back({make(), make(), make()});
  for (auto n = few(); n > 0; --n) all.pairs.emplace_back(some_number(), make());
  return all;
}

template <class Old, class Now>
void require_follows(const nest<Old>& old, const nest<Now>& now) {
  REQUIRE(follows(old.one, now.one));
  const auto lists = [](const auto& a, const auto& b) {
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) REQUIRE(follows(a[i], b[i]));
  };
  lists(old.many, now.many);
  lists(old.two, now.two);
  lists(old.queue, now.queue);
  REQUIRE(old.named.size() == now.named.size());
  for (const auto& [key, value] : old.named) REQUIRE(follows(value, now.named.at(key)));
  REQUIRE(old.lists.size() == now.lists.size());
  for (const auto& [key, value] : old.lists) lists(value, now.lists.at(key));
  REQUIRE(old.maybe.has_value() == now.maybe.has_value());
  if (old.maybe) REQUIRE(follows(*old.maybe, *now.maybe));
  REQUIRE((old.owned != nullptr) == (now.owned != nullptr));
  if (old.owned) REQUIRE(follows(*old.owned, *now.owned));
  REQUIRE((old.shared != nullptr) == (now.shared != nullptr));
  REQUIRE(now.shared == now.same);
  if (old.shared) REQUIRE(follows(*old.shared, *now.shared));
  REQUIRE(old.either.index() == now.either.index());
  if (old.either.index() == 1) REQUIRE(follows(std::get<1>(old.either), std::get<1>(now.either)));
  REQUIRE(follows(old.pair.second, now.pair.second));
  REQUIRE(old.grid.size() == now.grid.size());
  for (std::size_t i = 0; i < old.grid.size(); ++i) lists(old.grid[i], now.grid[i]);
  REQUIRE(old.pairs.size() == now.pairs.size());
  for (std::size_t i = 0; i < old.pairs.size(); ++i) REQUIRE(follows(old.pairs[i].second, now.pairs[i].second));
}

/// Loads what an older program saved, into empty and into filled states, and what this program saves.
template <class Old, class Now, class Make>
void check_nests(const Make& make) {
  for (int round = 0; round < 30; ++round) {
    const auto old = make_nest<Old>(make);
    const tests::kept kept(old);
    nest<Now> fresh;
    kept.load(fresh);
    require_follows(old, fresh);
    nest<Now> filled;
    tests::kept(make_nest<Old>(make)).load(filled);
    kept.load(filled);
    require_follows(old, filled);
    const tests::kept again(filled);
    nest<Now> copy;
    again.load(copy);
    require_follows(old, copy);
    REQUIRE(tests::kept(copy) == again);
  }
}

TEST_CASE("renamed, added and removed members load in every container") {
  check_nests<before::layer, after::layer>(some_layer);
}
TEST_CASE("objects of an older version are migrated in every container") {
  check_nests<before::model, after::model>(some_model);
}
TEST_CASE("objects of an older version are migrated row by row in columns") {
  check_nests<before::row, after::row>(some_row);
}

/// What is wrong with the load, which has to leave `into` as it was.
template <class Old, class Now>
std::string refusal(const Old& old, Now& into, const cairn::detail::match_options& options = tests::any_size) {
  const tests::kept now(into);
  const tests::kept kept(old);
  try {
    kept.load(into, options);
  } catch (const cairn::error& cause) {
    CHECK(tests::kept(into) == now);
    return cause.what();
  }
  return "loaded";
}

struct old_pair {
  before::model model;
  std::vector<before::row> rows;
};
struct new_pair {
  after::model model;
  std::vector<after::row> rows;
};
old_pair some_pair() { return {some_model(), {some_row(), some_row(), some_row()}}; }

/// Part of a class, and a class, that both have a new version.
struct old_inner {
  float a = 0;
};
struct old_outer {
  old_inner inner;
  std::array<old_inner, 2> two;
  int b = 0;
};
struct new_inner {
  double a2 = 0;
  static constexpr unsigned cairn_version = 5;
  using cairn_changes = cairn::since<4, "a2">;
  void cairn_migrate(cairn::stored_parts& old) { a2 = 2.0 * static_cast<double>(old.get<float>("a")); }
};
struct new_outer {
  new_inner inner;
  std::array<new_inner, 2> two;
  int b2 = 0;
  static constexpr unsigned cairn_version = 1;
  using cairn_changes = cairn::since<1, "b2">;
  void cairn_migrate(cairn::stored_parts& old) { b2 = 3 * old.get<int>("b"); }
};

struct base {
  int id = 0;
  static auto cairn_fields() { return cairn::fields<&base::id>{}; }
  using cairn_changes = cairn::renamed<"id", "number">;
};
struct derived : base {
  float rate = 0;
  using cairn_bases = cairn::bases<base>;
  static auto cairn_fields() { return cairn::fields<&derived::rate>{}; }
};

}  // namespace

TEST_CASE("a migration that fails leaves the state as it was") {
  new_pair into;
  tests::kept(some_pair()).load(into);
  auto old = some_pair();
  old.model.name = "refused";
  CHECK_THAT(refusal(old, into),
             ContainsSubstring("model cannot be loaded from version 0, since cairn_migrate failed: refused"));
  old = some_pair();
  old.rows[1].kept = -1;
  CHECK_THAT(refusal(old, into),
             ContainsSubstring("rows cannot be loaded from version 0, since cairn_migrate failed: a negative"));
}

TEST_CASE("a version that is newer than the program's is refused, also where nothing is migrated") {
  struct newer {
    int a = 0;
    static constexpr unsigned version() { return 2; }
  };
  after::model into;
  tests::kept kept(into);
  CHECK(kept.contents.structure.at("@version").number == 3);
  kept.contents.structure.at("@version").number = 4;
  CHECK_THROWS_WITH(
      kept.load(into),
      ContainsSubstring("value has version 4 in the checkpoint, which is newer than version 3 of "
                        "this program; load it with a program of that version, or leave it out with filter"));
  kept.contents.structure.at("@version") = {cairn::detail::structure_entry::kind::names, 0, {}, {"0 a"}};
  CHECK_THROWS_WITH(kept.load(into), ContainsSubstring("@version is another kind of object"));
  kept.contents.structure.erase("@version");
  kept.contents.has_structure = false;  // a file of another program is of the present version
  kept.load(into);
}

TEST_CASE("what a migration does not read is reported, and what it lacks is missing") {
  struct more {
    std::vector<float> both;
    std::int32_t millis = 0;
    std::string name;
    int forgotten = 0;
  };
  struct less {
    std::vector<float> both;
    std::string name;
  };
  after::model into{{1}, {2}, 3, "a"};
  CHECK_THAT(refusal(more{}, into), ContainsSubstring("forgotten is in the checkpoint but not in the state"));
  CHECK_THAT(refusal(less{}, into), ContainsSubstring("millis is missing in the checkpoint"));
  const less old{{1, 2}, "b"};
  tests::kept(old).load(into, {.strict = false, .rename = {}, .filter = {}});
  CHECK(into.name == "a");  // an object is migrated as a whole, or not at all
  CHECK(into.weight == std::vector<float>{1});
  struct other {
    std::vector<double> both;
    std::int32_t millis = 0;
    std::string name;
  };
  CHECK_THAT(refusal(other{}, into), ContainsSubstring("both is F64 in the checkpoint and F32 in the state"));
  struct hidden {
    new_pair all;
  } part;
  struct seen {
    old_pair all;
  };
  CHECK_THAT(refusal(seen{some_pair()}, part,
                     {.rename = {}, .filter = [](std::string_view path) { return path != "all.model.millis"; }}),
             ContainsSubstring("all.model can only be loaded as a whole"));
}

TEST_CASE("a member may be missing in an older version only") {
  after::model now{{1}, {2}, 3, "a"};
  tests::kept kept(now);
  const auto version = [&](std::uint64_t number) { kept.contents.structure.at("@version").number = number; };
  std::erase_if(kept.contents.leaves, [](const auto& leaf) { return leaf.path == "bias"; });
  after::model into{{}, {9}, 0, ""};
  CHECK_THROWS_WITH(kept.load(into), ContainsSubstring("bias is missing in the checkpoint"));
  version(2);  // the members are as they are since version 2
  CHECK_THROWS_WITH(kept.load(into), ContainsSubstring("bias is missing in the checkpoint"));
  version(1);
  CHECK_THROWS_WITH(kept.load(into), ContainsSubstring("both is missing in the checkpoint"));
}

TEST_CASE("an added member keeps its value, and the report says so") {
  before::layer old = some_layer();
  after::layer into{{}, {4, 5}, 0};
  const auto report = tests::kept(old).load(into);
  CHECK(follows(old, into));
  CHECK(into.bias == std::vector<float>{4, 5});
  CHECK(report.missing == std::vector<std::string>{"bias"});
  CHECK(report.unexpected.empty());
}

namespace {

struct grown {
  std::vector<float> w;
  std::vector<float> added{4, 5};
  using cairn_changes = cairn::changes<cairn::added<"added">>;
};
struct migrated_outside {
  static constexpr unsigned cairn_version = 1;
  grown inner;
  void cairn_migrate(cairn::stored_parts& old) { old.load("inner", inner); }
};

}  // namespace

TEST_CASE("an added member of a class inside one that is migrated is missing, too") {
  struct old_inner {
    std::vector<float> w{1};
  };
  struct old_outside {
    old_inner inner;
  };
  migrated_outside into;
  const auto report = tests::kept(old_outside{}).load(into);
  CHECK(into.inner.w == std::vector<float>{1});
  CHECK(report.missing == std::vector<std::string>{"inner.added"});
}

TEST_CASE("a former name is not looked for where the present one is stored") {
  struct both {
    std::vector<float> w, weight;
    int id = 0;
  };
  after::layer into;
  CHECK_THAT(refusal(both{}, into), ContainsSubstring("w is in the checkpoint but not in the state"));
  struct kernel {
    std::vector<float> kernel, w;
    int id = 0;
  };
  CHECK_THAT(refusal(kernel{{1}, {2}, 3}, into), ContainsSubstring("w is in the checkpoint but not in the state"));
  tests::kept(kernel{{1}, {2}, 3}).load(into, {.strict = false, .rename = {}, .filter = {}});
  CHECK(into.weight == std::vector<float>{1});
}

TEST_CASE("classes with lists of members rename them as in a path") {
  const auto old = some_layer();
  after::hidden_layer into;
  tests::kept(old).load(into);
  CHECK(into.weight() == old.w);
  CHECK(into.id() == old.id);
  struct flat {
    int number = 5;
    float rate = 6;
  };
  derived now;
  tests::kept(flat{}).load(now);
  CHECK(now.id == 5);
  CHECK(now.rate == 6);
}

TEST_CASE("a class is migrated after its parts") {
  const std::vector<old_outer> old{{{1}, {{{2}, {3}}}, 4}, {{5}, {{{6}, {7}}}, 8}};
  std::vector<new_outer> now;
  tests::kept(old).load(now);
  REQUIRE(now.size() == 2);
  CHECK(now[1].inner.a2 == 10);
  CHECK(now[0].two[1].a2 == 6);
  CHECK(now[1].two[0].a2 == 12);
  CHECK(now[1].b2 == 24);
  new_outer one;
  tests::kept(old[0]).load(one);
  CHECK(one.two[1].a2 == 6);
  CHECK(one.b2 == 12);
}

TEST_CASE("large vectors of objects of an older version are migrated") {
  std::vector<before::row> old(30'000);
  for (auto& each : old) each = some_row();
  for (const std::size_t size : {0U, 5U, 40'000U}) {
    std::vector<after::row> now(size);
    tests::kept(old).load(now);
    REQUIRE(now.size() == old.size());
    for (std::size_t i = 0; i < old.size(); ++i) REQUIRE(follows(old[i], now[i]));
  }
  std::vector<after::row> now(3);
  tests::kept(std::vector<before::row>{}).load(now);
  CHECK(now.empty());
}

TEST_CASE("an array that may move while its object is migrated must not be used elsewhere in the state") {
  struct pair {
    after::model model;
    cairn::tensor_view<float> view;
  };
  struct old_model {
    before::model model;
    std::vector<float> view;
  };
  pair into{{{1, 2}, {3}, 4, "a"}, {}};
  into.view = {into.model.weight.data(), {2}, {}};
  const old_model old{{{1, 2, 3, 4}, 5, "b"}, {8, 9}};
  CHECK_THAT(refusal(old, into), ContainsSubstring("view refers to elements of model,"));
  std::vector<float> own{0, 0};
  into.view = {own.data(), {2}, {}};
  tests::kept(old).load(into);
  CHECK(own == std::vector<float>{8, 9});
  CHECK(follows(old.model, into.model));
}
