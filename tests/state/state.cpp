// SPDX-License-Identifier: MIT
#include "cairn/state/state.hpp"

#include "cairn/checkpointer.hpp"
#include "cairn/load.hpp"
#include "cairn/save.hpp"
#include "cairn/store/memory.hpp"
#include "catch.hpp"
#include "state/kept.hpp"

namespace {

struct layer {
  std::vector<float> weights;
  std::string name;
  friend bool operator==(const layer&, const layer&) = default;
};

struct whole {
  layer model;
  std::mt19937 rng;
  int epoch = 0;
};

}  // namespace

TEST_CASE("named references are saved and loaded as a struct with these members") {
  whole original{{{1, 2, 3}, "first"}, std::mt19937(7), 4};
  const cairn::state references{{"model", original.model}, {"rng", original.rng}, {"epoch", original.epoch}};
  const tests::kept kept(references);
  CHECK(kept == tests::kept(original));

  layer model{{9}, "other"};
  std::mt19937 rng;
  int epoch = 0;
  cairn::state fresh{{"model", model}, {"rng", rng}, {"epoch", epoch}};
  const auto report = kept.load(fresh);
  CHECK(report.unexpected.empty());
  CHECK(model == original.model);
  CHECK(rng == original.rng);
  CHECK(epoch == 4);

  whole other;
  kept.load(other);
  CHECK(other.model == original.model);
}

TEST_CASE("a copy of named references refers to the same objects, and names can be made at run time") {
  std::vector<int> a{1, 2}, b{3};
  std::unique_ptr<cairn::state> copy;
  {
    const cairn::state first{{std::string("a") + "1", a}, {"b", b}};
    copy = std::make_unique<cairn::state>(first);
  }
  const tests::kept kept(*copy);
  CHECK(kept.paths() == "a1 b");
  a = {5};
  kept.load(*copy);
  CHECK(a == std::vector<int>{1, 2});
}

TEST_CASE("named references nest, by value and in each other's place") {
  int x = 1, y = 2, z = 3;
  cairn::state inner{{"y", y}};
  cairn::state original{{"x", x}, {"inner", inner}, {"more", cairn::state{{"z", z}}}, {"braces", {{"z", z}, {"y", y}}}};
  const tests::kept kept(original);
  CHECK(kept.paths() == "braces.y braces.z inner.y more.z x");
  x = y = z = 0;
  inner = {{"other", x}};
  kept.load(original);
  CHECK(std::tuple(x, y, z) == std::tuple(1, 2, 3));
}

TEST_CASE("named references are a member, an element or a value as any state is") {
  int x = 1, y = 2;
  struct run {
    cairn::state parts;
    int step = 0;
  };
  run original{{{"x", x}, {"y", y}}, 5};
  const tests::kept kept(original);
  CHECK(kept.paths() == "parts.x parts.y step");
  x = y = original.step = 0;
  kept.load(original);
  CHECK(std::tuple(x, y, original.step) == std::tuple(1, 2, 5));

  std::vector<cairn::state> list{{{"x", x}}, {{"y", y}}};
  const tests::kept elements(list);
  CHECK(elements.paths() == "0.x 1.y");
  x = y = 0;
  elements.load(list);
  CHECK(std::tuple(x, y) == std::tuple(1, 2));
  std::vector<cairn::state> shorter{{{"x", x}}};
  CHECK_THROWS_WITH(elements.load(shorter), ContainsSubstring("can have at most 1"));

  std::optional<cairn::state> optional(cairn::state{{"x", x}});
  CHECK(tests::comes_back(optional, optional));
  CHECK(tests::kept(cairn::state{}).paths().empty());
}

TEST_CASE("names that no path can have are refused") {
  int x = 0, y = 0;
  CHECK_THROWS_WITH((cairn::state{{"", x}}), ContainsSubstring("no name"));
  CHECK_THROWS_WITH((cairn::state{{"a.b", x}}), ContainsSubstring("'a.b'"));
  CHECK_THROWS_WITH((cairn::state{{"a", x}, {"b", y}, {"a", y}}),
                    ContainsSubstring("two parts of a cairn::state have the name 'a'"));
  CHECK_THROWS_WITH((cairn::const_state{{"a", x}, {"a", y}}), ContainsSubstring("have the name 'a'"));
  try {
    cairn::state{{"a", {{"", x}}}};
    FAIL("made");
  } catch (const cairn::error& error) {
    CHECK(error.code() == cairn::errc::invalid);
  }
}

TEST_CASE("references to const objects are saved and not loaded") {
  const layer model{{1, 2}, "fixed"};
  const double limit = 0.5;
  int epoch = 3;
  const cairn::state mutable_part{{"epoch", epoch}};
  const cairn::const_state parts{
      {"model", model}, {"run", mutable_part}, {"again", cairn::const_state{{"limit", limit}}}};
  STATIC_REQUIRE(cairn::saveable<cairn::const_state>);
  STATIC_REQUIRE_FALSE(cairn::loadable<cairn::const_state>);
  STATIC_REQUIRE(cairn::loadable<cairn::state>);
  const tests::kept kept(cairn::refer(parts));
  CHECK(kept.paths() == "again.limit model.name model.weights run.epoch");

  cairn::any_store store = cairn::stores::memory{};
  cairn::save(store, "a", parts);
  layer copy;
  cairn::state into{{"model", copy}};
  cairn::load(store, "a", into, {.strict = false});
  CHECK(copy == model);
}

TEST_CASE("named references are saved and restored by a checkpointer") {
  layer model{{1, 2, 3}, "first"};
  std::mt19937 rng(5);
  const std::mt19937 before = rng;
  cairn::any_store store = cairn::stores::memory{};
  {
    cairn::checkpointer run(store, {.when = cairn::policies::every_steps(1)});
    cairn::state all{{"model", model}, {"rng", rng}};
    CHECK_FALSE(run.restore(all));
    (void)run.step(all, {.step = 1, .loss = 0.5});
    run.wait();
    model.weights = {4, 5, 6};
    rng.discard(3);
  }
  cairn::checkpointer run(store, {});
  cairn::state all{{"model", model}, {"rng", rng}};
  CHECK(run.restore(all));
  CHECK(model.weights == std::vector<float>{1, 2, 3});
  CHECK(rng == before);
  run.save(all, {.step = 2});
  CHECK(run.latest() == 2U);
}

TEST_CASE("a tuple of references is a state whose names are numbers") {
  layer model{{1, 2, 3}, "first"};
  int epoch = 4;
  auto all = std::tie(model, epoch);
  const tests::kept kept(all);
  CHECK(kept.paths() == "0.name 0.weights 1");
  model = {};
  epoch = 0;
  kept.load(all);
  CHECK(model == layer{{1, 2, 3}, "first"});
  CHECK(epoch == 4);
}
