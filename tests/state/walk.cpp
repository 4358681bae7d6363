// SPDX-License-Identifier: MIT
#include "cairn/state/walk.hpp"

#include "catch.hpp"
#include "state/fill.hpp"
#include "state/refuses.hpp"

namespace {

struct named_lists {
  std::vector<std::vector<int>> lists;
  std::string name;
};

using ragged = std::vector<std::vector<int>>;

/// One type of each kind that has an entry at its path.
using all_structured =
    std::tuple<ragged, std::list<std::optional<int>>, std::map<std::string, ragged>, std::optional<int>,
               std::variant<int, ragged>, std::unique_ptr<ragged>, std::shared_ptr<int>, cairn::per_rank<ragged>,
               std::set<std::vector<int>>, std::multimap<double, std::vector<int>>, std::stack<ragged>,
               std::optional<std::unique_ptr<std::variant<int, cairn::per_rank<std::optional<ragged>>>>>>;

template <class... T>
void fill_all(std::tuple<T...>& all) {
  std::apply([](auto&... each) { (tests::fill(each), ...); }, all);
}

template <class... T>
void check_entries(const std::tuple<T...>& all) {
  const auto found = cairn::detail::describe(all).structure;
  std::size_t i = 0;
  (
      [&] {
        INFO("type " << i);
        CHECK(found.contains(std::to_string(i++)) == cairn::detail::has_entry<T>);
      }(),
      ...);
}

TEST_CASE("has_entry is true for the types that have an entry at their path") {
  all_structured structured;
  fill_all(structured);
  check_entries(structured);
  check_entries(std::tuple<int, std::array<float, 3>, std::vector<float>, std::string, named_lists, std::set<int>,
                           std::vector<bool>, std::map<int, int>, std::pair<int, ragged>, std::array<ragged, 1>,
                           std::stack<int, std::vector<int>>>{});
}

TEST_CASE("any combination of holders and containers comes back into any other one") {
  using inner = std::variant<int, std::optional<ragged>, std::unique_ptr<std::map<std::string, std::optional<ragged>>>>;
  using state = std::tuple<std::vector<std::unique_ptr<std::optional<inner>>>, std::map<std::string, inner>,
                           std::multimap<double, inner>, std::optional<std::list<std::shared_ptr<ragged>>>>;
  std::mt19937 random(3);
  for (int i = 0; i < 200; ++i) {
    state original, fresh;
    const auto fill = [&](auto&... each) { (tests::fill(each, &random), ...); };
    std::apply(fill, original);
    std::apply(fill, fresh);
    CHECK(tests::comes_back(original, fresh));
  }
}

TEST_CASE("content with an entry is the part value, other content has the path of its holder") {
  struct state {
    std::optional<ragged> lists = ragged{{1}, {2}};
    std::optional<std::vector<int>> array = std::vector<int>{3};
    std::optional<named_lists> object = named_lists{{{4}}, "n"};
    std::unique_ptr<std::optional<int>> number = std::make_unique<std::optional<int>>(5);
  };
  const state original;
  const tests::kept kept(original);
  CHECK(kept.paths() == "array lists.value.0 lists.value.1 number.value object.lists.0 object.name");
  state fresh{{}, {}, {}, nullptr};
  CHECK(tests::comes_back(original, fresh));
  CHECK(fresh.lists == original.lists);
  CHECK(fresh.object->lists == original.object->lists);
  CHECK(**fresh.number == 5);

  CHECK(tests::kept(original.lists).paths() == "value.value.0 value.value.1");
}

TEST_CASE("memory that is seen twice, once through a holder with an entry, is saved twice") {
  struct state {
    std::vector<float> values{1, 2, 3};
    std::optional<std::span<float>> view = values;
  };
  state original;
  original.values[2] = 9;
  const tests::kept kept(original);
  CHECK(kept.paths() == "values view");
  state fresh;
  kept.load(fresh);
  CHECK(fresh.values[2] == 9);
}

struct counted {
  explicit counted(int& alive) : alive_(&alive) { ++alive; }
  counted(const counted& other) : alive_(other.alive_) { ++*alive_; }
  counted& operator=(const counted&) = default;
  ~counted() { --*alive_; }

 private:
  int* alive_;
};

int alive = 0;

struct made : counted {
  made() : counted(alive) {}
};

}  // namespace

template <>
struct cairn::adapter<counted> {
  static int get(const counted&) { return 0; }
  static void set(counted&, int) {}
};
template <>
struct cairn::adapter<made> : cairn::adapter<counted> {
  static int get(const made&) { return 0; }
  static void set(made&, int) {}
};

TEST_CASE("the operations of a type make and destroy its objects, where it has a default constructor") {
  constexpr auto how = cairn::detail::object_operations_of<made>;
  void* const object = how.make();
  CHECK(alive == 1);
  how.destroy(object);
  CHECK(alive == 0);
  CHECK(cairn::detail::object_operations_of<counted>.make == nullptr);
}

TEST_CASE("optionals and variants take the checkpoint's choice, whatever they hold") {
  struct state {
    std::optional<int> number;
    std::optional<std::vector<float>> array;
    std::variant<std::monostate, int, std::vector<std::string>> choice;
  };
  const std::vector<state> all{{},
                               {1, std::vector<float>{1, 2}, 3},
                               {std::nullopt, std::vector<float>{}, std::vector<std::string>{"a", "b"}},
                               {4, std::nullopt, std::monostate{}}};
  for (const auto& original : all) {
    for (const auto& other : all) {
      state fresh = other;
      CHECK(tests::comes_back(original, fresh));
      CHECK(fresh.number == original.number);
      CHECK(fresh.array == original.array);
      CHECK(fresh.choice == original.choice);
    }
  }
}

TEST_CASE("an alternative that the variant does not have is refused") {
  std::variant<int, float> original = 1;
  tests::kept kept(original);
  kept.contents.structure.at("value").number = 7;
  std::variant<int, float> fresh = 2;
  tests::refuses(
      kept, fresh, cairn::errc::mismatch,
      "value holds alternative 7 in the checkpoint, and the variant in the state has 2 alternatives; add those "
      "that it had, at their places, or leave it out with filter");
  CHECK(std::get<int>(fresh) == 2);
}

namespace {

struct throws {
  int x = 0;
  throws() = default;
  explicit throws(int) { throw 5; }
  throws(const throws& other) : x(other.x) {}
  throws& operator=(const throws&) = default;
  static auto cairn_fields() { return cairn::fields<&throws::x>{}; }
};
using choice = std::variant<std::string, throws>;

void lose_value(choice& object) {
  REQUIRE_THROWS_AS(object.emplace<1>(7), int);
  REQUIRE(object.valueless_by_exception());
}

TEST_CASE("a variant without a value gets one from the checkpoint, or keeps none") {
  struct earlier {
    int step = 3;
  };
  struct state {
    int step = 0;
    choice made;
    std::vector<float> grows;
  };
  state fresh;
  lose_value(fresh.made);
  tests::kept(earlier{}).load(fresh, {.strict = false, .rename = {}, .filter = {}});
  CHECK(fresh.step == 3);
  CHECK(fresh.made.valueless_by_exception());
  tests::kept(state{4, "abc", {1, 2}}).load(fresh);
  CHECK(std::get<0>(fresh.made) == "abc");
  CHECK(fresh.grows == std::vector<float>{1, 2});
}

struct nesting {
  struct inner {  // clang takes it for one without a default constructor inside of `nesting`
    double loss = 1e9;
    std::vector<float> w;
  };
  std::optional<inner> best;
  std::vector<inner> history;
  std::map<std::string, inner> named;
  std::variant<int, inner> either;
};

}  // namespace

TEST_CASE("a load makes objects of a class that is declared in that of the state") {
  nesting original;
  original.best = nesting::inner{.5, {1}};
  original.history = {*original.best};
  original.named["a"] = *original.best;
  original.either = *original.best;
  CHECK(tests::comes_back(original));
}
