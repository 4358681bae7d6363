// SPDX-License-Identifier: MIT

#include "cairn/load.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/store/memory.hpp"
#include "catch.hpp"
#include "golden/same_files.hpp"
#include "save_as.hpp"
#include "store/sample.hpp"

// The checkpoint in tests/golden/evolution-2 was written once, by a program with the types of namespace `then`. It
// never changes: what classes say about their changes stays readable. Each test loads it as a later program with other
// types.

namespace then {

enum class phase : std::uint8_t { warmup, train, cooldown };  // by number
enum class kind : std::uint8_t { relu, tanh, gelu };          // by name

struct layer {
  std::vector<float> w;
  std::vector<float> momentum;
  kind activation{};
};
struct sample {
  std::int32_t millis = 0;
  std::array<float, 2> both{};
};
struct limits {
  std::vector<float> both;  // lower ones, then upper ones
  static constexpr unsigned cairn_version = 1;
};
/// Numbers that are stored as such, as an optional, and as a vector of one element.
struct forms {
  double number = 0, second_number = 0;
  std::optional<double> maybe, second_maybe;
  std::vector<double> one, second_one;
};
struct state {
  std::vector<layer> layers;
  std::vector<sample> history;
  limits clip;
  phase current{};
  std::vector<kind> kinds;
  float rate = 0;
  std::vector<std::int16_t> counts;
  forms number_forms;
  std::array<std::array<float, 3>, 2> grid{};
};

}  // namespace then

template <>
struct cairn::by_name<then::kind> : cairn::enumerators<then::kind::relu, then::kind::tanh, then::kind::gelu> {};

namespace {

then::state original() {
  then::state all;
  all.layers = {{{1, 2, 3}, {0.5F}, then::kind::gelu}, {{4}, {}, then::kind::tanh}};
  all.history = {{1500, {1, 2}}, {250, {3, 4}}, {0, {5, 6}}};
  all.clip.both = {-1, -2, 1, 2};
  all.current = then::phase::train;
  all.kinds = {then::kind::tanh, then::kind::relu, then::kind::gelu, then::kind::gelu};
  all.rate = 0.1F;
  all.counts = {-1, 2, 300};
  all.number_forms = {1, 2, 3, 4, {5}, {6}};
  all.grid = {{{1, 2, 3}, {4, 5, 6}}};
  return all;
}

const std::string root = CAIRN_TESTS "/golden/evolution-2";
const std::string name = cairn::detail::checkpoint_name(1);

template <class State>
State load(const cairn::load_options& options = {}) {
  State state;
  cairn::load(root + "/" + name, state, options);
  return state;
}

}  // namespace

TEST_CASE("the frozen checkpoint still loads into the types of its time, and is written with the same bytes") {
  const auto state = load<then::state>();
  CHECK(state.layers.at(0).activation == then::kind::gelu);
  CHECK(state.kinds == original().kinds);
  CHECK(state.current == then::phase::train);
  CHECK(state.clip.both == original().clip.both);
  cairn::any_store store = cairn::stores::memory();
  tests::save_as(store, name, state, {.step = 1});
  golden::check_same_files(store, cairn::stores::directory(root), name);
}

TEST_CASE("writes the frozen checkpoint of the types, for a new version", "[.write]") {
  cairn::any_store store = cairn::stores::directory(root);
  tests::save_as(store, name, load<then::state>(), {.step = 1});
}

/// A later program that has renamed, added, removed, widened, split and converted members, and reordered an enum that
/// is known by name.
namespace now {

enum class kind : std::uint32_t { none, gelu, relu, tangent };

struct layer {
  std::vector<float> weight;
  std::vector<float> bias = {7};
  kind activation{};
  using cairn_changes = cairn::changes<cairn::renamed<"weight", "w">, cairn::added<"bias">, cairn::removed<"momentum">>;
};
struct sample {
  double seconds = 0;
  float first = 0, second = 0;
  static constexpr unsigned cairn_version = 1;
  using cairn_changes = cairn::since<1, "seconds", "first", "second">;
  void cairn_migrate(cairn::stored_parts& old) {
    seconds = old.get<std::int32_t>("millis") / 1000.0;
    const auto both = old.get<std::array<float, 2>>("both");
    first = both[0];
    second = both[1];
  }
};
struct limits {
  std::vector<float> lower, upper;
  static constexpr unsigned cairn_version = 2;
  using cairn_changes = cairn::since<2, "lower", "upper">;
  void cairn_migrate(cairn::stored_parts& old) {
    const auto both = old.get<std::vector<float>>("both");
    const auto half = both.begin() + static_cast<std::ptrdiff_t>(both.size() / 2);
    lower.assign(both.begin(), half);
    upper.assign(half, both.end());
  }
};
struct state {
  std::vector<layer> layers;
  std::vector<sample> history;
  limits clip;
  then::phase current{};
  std::vector<kind> kinds;
  double rate = 0;                   // widened
  std::vector<std::int64_t> counts;  // widened
  using cairn_changes = cairn::removed<"number_forms", "grid">;
};

}  // namespace now

template <>
struct cairn::by_name<now::kind> : cairn::enumerators<now::kind::none, now::kind::gelu, now::kind::relu,
                                                      cairn::enumerator<"tangent", now::kind::tangent, "tanh">> {};

TEST_CASE("a later program loads the frozen checkpoint as its types say") {
  const auto state = load<now::state>({.convert = cairn::conversion::widening});
  REQUIRE(state.layers.size() == 2);
  CHECK(state.layers[0].weight == std::vector<float>{1, 2, 3});
  CHECK(state.layers[0].bias == std::vector<float>{7});
  CHECK(state.layers[0].activation == now::kind::gelu);
  CHECK(state.layers[1].activation == now::kind::tangent);
  REQUIRE(state.history.size() == 3);
  CHECK(state.history[1].seconds == 0.25);
  CHECK(state.history[2].first == 5);
  CHECK(state.history[0].second == 2);
  CHECK(state.clip.lower == std::vector<float>{-1, -2});
  CHECK(state.clip.upper == std::vector<float>{1, 2});
  CHECK(state.current == then::phase::train);
  CHECK(state.kinds == std::vector{now::kind::tangent, now::kind::relu, now::kind::gelu, now::kind::gelu});
  CHECK(state.rate == static_cast<double>(0.1F));
  CHECK(state.counts == std::vector<std::int64_t>{-1, 2, 300});
}

TEST_CASE("what a later program saves it loads again, and the earlier program refuses") {
  const auto state = load<now::state>({.convert = cairn::conversion::widening});
  cairn::any_store store = cairn::stores::memory();
  tests::save_as(store, name, state, {.step = 1});
  now::state copy;
  cairn::load(store, copy);
  CHECK(copy.clip.upper == state.clip.upper);
  CHECK(copy.kinds == state.kinds);
  struct part {
    then::limits clip;
  } earlier;
  CHECK_THROWS_WITH(
      cairn::load(store, earlier, {.strict = false}),
      ContainsSubstring("clip has version 2 in the checkpoint, which is newer than version 1 of this program; "
                        "load it with a program of that version, or leave it out with filter"));
}

/// A later program in which numbers, optionals and vectors of one number have changed places, and an array has another
/// shape.
namespace reformed {

struct forms {
  std::optional<double> number;
  std::vector<double> second_number;
  double maybe = 0;
  std::vector<double> second_maybe;
  double one = 0;
  std::optional<double> second_one;
};
struct state {
  forms number_forms;
  std::array<std::array<float, 4>, 3> grid{};
  using cairn_changes = cairn::removed<"layers", "history", "clip", "current", "kinds", "rate", "counts">;
};
struct cropped {
  forms number_forms;
  std::array<std::array<float, 2>, 3> grid{};
  using cairn_changes = state::cairn_changes;
};

}  // namespace reformed

TEST_CASE("a later program loads numbers into optionals and vectors, and the reverse, and arrays of other shapes") {
  const auto reshape = [](cairn::reshaping how) {
    return cairn::load_options{
        .reshape = [how](std::string_view path) { return path == "grid" ? how : cairn::reshaping::none; }};
  };
  const auto state = load<reformed::state>(reshape(cairn::reshaping::grow));
  CHECK(state.number_forms.number == 1);
  CHECK(state.number_forms.second_number == std::vector<double>{2});
  CHECK(state.number_forms.maybe == 3);
  CHECK(state.number_forms.second_maybe == std::vector<double>{4});
  CHECK(state.number_forms.one == 5);
  CHECK(state.number_forms.second_one == 6);
  CHECK(state.grid == std::array<std::array<float, 4>, 3>{{{1, 2, 3, 0}, {4, 5, 6, 0}, {}}});
  CHECK_THROWS_WITH(load<reformed::cropped>(reshape(cairn::reshaping::grow)),
                    ContainsSubstring("grid has shape [2, 3] in the checkpoint and [3, 2] in the state"));
  const auto cropped = load<reformed::cropped>(reshape(cairn::reshaping::any));
  CHECK(cropped.grid == std::array<std::array<float, 2>, 3>{{{1, 2}, {4, 5}, {}}});
}
