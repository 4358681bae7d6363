// SPDX-License-Identifier: MIT
#include "cairn/state/walk_holder.hpp"

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "catch.hpp"
#include "state/kept.hpp"
#include "state/refuses.hpp"

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
  tests::kept kept(cairn::detail::describe(original));
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

}  // namespace

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
  tests::kept(cairn::detail::describe(earlier{})).load(fresh, {.strict = false, .rename = {}, .filter = {}});
  CHECK(fresh.step == 3);
  CHECK(fresh.made.valueless_by_exception());
  tests::kept(cairn::detail::describe(state{4, "abc", {1, 2}})).load(fresh);
  CHECK(std::get<0>(fresh.made) == "abc");
  CHECK(fresh.grows == std::vector<float>{1, 2});
}

namespace {

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
