// SPDX-License-Identifier: MIT
#include "cairn/state/sharded.hpp"

#include "catch.hpp"
#include "state/kept.hpp"

namespace {

/// Makes its state at the first step.
class adam {
 public:
  double rate = 1e-3;
  bool has_state = false;
  std::vector<float> m;
  std::vector<std::vector<float>> v;
  bool makes_state = true;
  bool always_prototypes = false;

  virtual ~adam() = default;  // so that Cairn cannot take it apart
  void step() { has_state = true, m = {1, 2}, v = {{3}, {4, 5}}; }
};

std::vector<cairn::purpose> purposes;

}  // namespace

template <>
struct cairn::adapter<adam> {
  template <class Field>
  static void fields(adam& object, const Field& field) {
    purposes.push_back(field.purpose());
    field("rate", object.rate);
    if (field.purpose() == purpose::apply && field.stored("m") && object.makes_state) object.has_state = true;
    if (object.has_state && !object.always_prototypes) {
      field("m", object.m);
      field("v", object.v);
    } else if (field.stored("m") || object.always_prototypes) {
      field.prototype("m", std::vector<float>());
      field.prototype("v", std::vector<std::vector<float>>());
    }
  }
};

TEST_CASE("an adapter knows why its fields are walked") {
  adam optimizer;
  purposes.clear();
  const tests::kept kept(optimizer);
  kept.load(optimizer);
  CHECK(purposes == std::vector{cairn::purpose::describe, cairn::purpose::check, cairn::purpose::apply});
}

TEST_CASE("state that is made lazily is made by the load") {
  struct state {
    adam optimizer;
    std::vector<adam> many;
  };
  state original;
  original.many.resize(3);
  original.optimizer.step();
  original.many[1].step();
  const tests::kept kept(original);
  CHECK(kept.paths() ==
        "many.0.rate many.1.m many.1.rate many.1.v.0 many.1.v.1 many.2.rate optimizer.m optimizer.rate "
        "optimizer.v.0 optimizer.v.1");
  state fresh;
  CHECK(tests::comes_back(original, fresh));
  CHECK(fresh.optimizer.has_state);
  CHECK(fresh.optimizer.m == original.optimizer.m);
  CHECK(fresh.optimizer.v == original.optimizer.v);
  REQUIRE(fresh.many.size() == 3);
  CHECK_FALSE(fresh.many[0].has_state);
  CHECK(fresh.many[1].v == original.many[1].v);
}

TEST_CASE("a load that fails makes nothing") {
  struct state {
    adam optimizer;
    float last = 0;
  };
  state original;
  original.optimizer.step();
  tests::kept kept(original);
  for (auto& leaf : kept.contents.leaves)
    if (leaf.path == "last") leaf.type = cairn::dtype::i32;
  state fresh;
  CHECK_THROWS_AS(kept.load(fresh), cairn::error);
  CHECK_FALSE(fresh.optimizer.has_state);
  CHECK(fresh.optimizer.m.empty());
}

TEST_CASE("state that the checkpoint lacks is missing") {
  const tests::kept kept(cairn::detail::describe(adam()));
  adam stepped;
  stepped.step();
  CHECK_THROWS_WITH(kept.load(stepped), ContainsSubstring("m is missing in the checkpoint"));
  CHECK(stepped.m == std::vector<float>{1, 2});
}

TEST_CASE("the filter and the renaming of a load hold for what an adapter asks") {
  adam original;
  original.step();
  const tests::kept kept(original);
  adam fresh;
  kept.load(fresh, {.rename = {}, .filter = [](std::string_view path) { return path == "rate"; }});
  CHECK_FALSE(fresh.has_state);

  struct state {
    adam optimizer;
  } renamed;
  kept.load(renamed, {.rename =
                          [](std::string_view path) {
                            return std::string(
                                path == "optimizer" ? "value" : path.substr(std::string_view("optimizer.").size()));
                          },
                      .filter = {}});
  CHECK(renamed.optimizer.m == original.m);
  CHECK(renamed.optimizer.v == original.v);
}

TEST_CASE("a temporary is never loaded into") {
  adam original;
  original.step();
  const tests::kept kept(original);
  adam fresh;
  fresh.makes_state = false;
  const auto refused = ContainsSubstring("its adapter passes a prototype of m");
  CHECK_THROWS_WITH(kept.load(fresh), refused);
  original.always_prototypes = true;
  CHECK_THROWS_WITH(cairn::detail::describe(original), refused);
}
