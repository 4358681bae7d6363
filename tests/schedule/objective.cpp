#include "cairn/schedule/objective.hpp"

#include <set>

#include "catch.hpp"

using cairn::schedule::name;
using cairn::schedule::objective;
using cairn::schedule::objectives;

TEST_CASE("all objectives are listed, once, in order") {
  for (std::size_t i = 0; i < objectives.size(); ++i) CHECK(static_cast<std::size_t>(objectives[i]) == i);
  CHECK(name(static_cast<objective>(objectives.size())) == "unknown");
}

TEST_CASE("each objective has a name of its own") {
  std::set<std::string_view> names;
  for (const auto each : objectives) {
    CHECK(name(each) != "unknown");
    names.insert(name(each));
  }
  CHECK(names.size() == objectives.size());
  CHECK(name(objective::machine_time) == "machine_time");
}
