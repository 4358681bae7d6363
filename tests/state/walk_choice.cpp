#include "cairn/state/walk_choice.hpp"

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "catch.hpp"
#include "state/kept.hpp"

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
  CHECK_THROWS_WITH(kept.load(fresh), Catch::Matchers::ContainsSubstring("alternative 7 of a variant of 2"));
  CHECK(std::get<int>(fresh) == 2);
}
