// SPDX-License-Identifier: MIT
#include "cairn/state/loader.hpp"

#include "cairn/system/memory.hpp"
#include "catch.hpp"
#include "state/refuses.hpp"
#include "store/sample.hpp"

namespace {

struct model {
  std::vector<float> weight{1, 2};
  std::vector<float> bias{3};
};
struct trainer {
  model net;
  int step = 7;
};

using names = std::vector<std::string>;

TEST_CASE("an object that is missing is reported once, without its parts") {
  struct held {
    std::vector<float> w{1};
    int n = 2;
  };
  struct state {
    int step = 0;
    std::optional<std::vector<float>> maybe{{1, 2}};
    std::optional<std::optional<int>> twice{{3}};
    std::unique_ptr<held> owned = std::make_unique<held>();
    std::vector<held> several{{}, {}};
    std::map<std::string, std::vector<std::vector<int>>> keyed{{"a", {{1}}}};
    held plain;
  };
  struct earlier {
    int step = 4;
  };
  const tests::kept kept(earlier{});
  state fresh;
  const names missing{"maybe", "twice", "owned", "several", "keyed", "plain.w", "plain.n"};
  CHECK(kept.load(fresh, {.strict = false, .rename = {}, .filter = {}}).missing == missing);
  CHECK(fresh.step == 4);
  const auto failure = sample::failure_of([&] { kept.load(fresh); });
  CHECK(failure.says("maybe is missing in the checkpoint; twice is missing"));
}

TEST_CASE("paths that only one side has: the error advises rename") {
  struct renamed {
    model network;
    int step = 0;
  };
  const tests::kept kept(trainer{});
  renamed fresh;
  const auto failure = sample::failure_of([&] { kept.load(fresh); });
  CHECK(failure.says("load with rename if paths have changed"));
}

TEST_CASE("a report does not list arrays of a map that keeps its values, since a part of them is left out") {
  using table = std::map<int, double>;
  struct {
    std::vector<float> weight{1};
    table entries{{1, 2}, {3, 4}};
  } original;
  const tests::kept kept(original);
  auto fresh = original;
  fresh.entries = {{5, 6}};
  REQUIRE(kept.paths() == "entries.key entries.value weight");
  const auto report =
      kept.load(fresh, {.rename = {}, .filter = [](std::string_view p) { return p != "entries.value"; }});
  CHECK(fresh.entries == table{{5, 6}});
  CHECK(report.loaded == names{"weight"});
}

TEST_CASE("a filter keeps away from the structure of what it leaves out") {
  using nested = std::map<std::string, std::vector<std::vector<int>>>;
  const nested original{{"a", {{1}, {2}}}, {"b", {{3}}}};
  const tests::kept kept(original);
  nested fresh{{"a", {{9}}}, {"b", {{9}, {9}}}};
  kept.load(fresh, {.strict = true, .rename = {}, .filter = [](std::string_view p) { return p.starts_with("a."); }});
  CHECK(fresh == nested{{"a", {{1}, {2}}}, {"b", {{9}, {9}}}});
}

TEST_CASE("a rename finds leaves and structure under other paths") {
  struct old_state {
    std::vector<std::vector<int>> layers{{1}, {2, 3}};
  };
  struct new_state {
    std::vector<std::vector<int>> blocks;
  };
  const tests::kept kept(old_state{});
  new_state fresh;
  kept.load(fresh, {.strict = true,
                    .rename =
                        [](std::string_view path) {
                          return "layers" + std::string(path.substr(std::string_view("blocks").size()));
                        },
                    .filter = {}});
  CHECK(fresh.blocks == old_state{}.layers);
}

TEST_CASE("another dtype is a mismatch unless it is to be converted") {
  struct halves {
    std::vector<cairn::float16> values{cairn::float16(1.5F), cairn::float16(-2.0F)};
    std::int32_t count = 40000;
  };
  struct floats {
    std::vector<float> values;
    std::int64_t count = 0;
  };
  struct shorts {
    std::vector<cairn::bfloat16> values;
    std::int16_t count = 5;
  };
  const tests::kept kept(halves{});
  floats wide;
  const auto advice = [&](auto& state, cairn::conversion convert) {
    const auto failure =
        sample::failure_of([&] { kept.load(state, {.rename = {}, .filter = {}, .convert = convert}); });
    CHECK(failure.code == cairn::errc::mismatch);
    CHECK_FALSE(failure.says("strict"));  // which would not help: both sides have all
    return failure.sentence.substr(failure.sentence.find("values"));
  };
  CHECK(advice(wide, cairn::conversion::none) ==
        "values is F16 in the checkpoint and F32 in the state (load with convert = conversion::widening); "
        "count is I32 in the checkpoint and I64 in the state (load with convert = conversion::widening). "
        "Nothing was changed");
  const auto report = kept.load(wide, {.rename = {}, .filter = {}, .convert = cairn::conversion::widening});
  CHECK(wide.values == std::vector<float>{1.5F, -2.0F});
  CHECK(wide.count == 40000);
  CHECK(report.converted == names{"values", "count"});
  shorts narrow;
  for (const auto convert : {cairn::conversion::none, cairn::conversion::widening})
    CHECK(advice(narrow, convert)
              .starts_with(
                  "values is F16 in the checkpoint and BF16 in the state (load with convert = conversion::any); "));
  struct {
    std::vector<bool> values;
    std::int32_t count = 0;
  } flags;
  CHECK(advice(flags, cairn::conversion::any) ==
        "values is F16 in the checkpoint and BOOL in the state; leave it out with filter. Nothing was changed");
  CHECK_THROWS(kept.load(narrow, {.rename = {}, .filter = {}, .convert = cairn::conversion::widening}));
  CHECK_THROWS_WITH(kept.load(narrow, {.rename = {}, .filter = {}, .convert = cairn::conversion::any}),
                    ContainsSubstring("count in kept has values that do not fit into I16; give it a wider "
                                      "type, or leave it out with filter"));
  CHECK(narrow.values.empty());
  CHECK(narrow.count == 5);
}

TEST_CASE("a foreign file without structure loads into the structure that the state has") {
  tests::kept kept(std::vector<model>(2));
  kept.contents.has_structure = false;
  kept.contents.structure.clear();
  std::vector<model> fresh(2, model{{}, {}});
  const auto report = kept.load(fresh);
  CHECK(fresh[1].weight == std::vector<float>{1, 2});
  CHECK(report.missing.empty());
  std::vector<model> three(3);
  CHECK_THROWS_WITH(kept.load(three), ContainsSubstring("2.weight is missing"));
}

TEST_CASE("containers that fit into memory alone, but not together, are refused before one grows") {
  struct two {
    std::vector<std::uint8_t> a{1}, b{2};
  };
  tests::kept kept(two{});
  const auto most = cairn::detail::machine_memory();
  two fresh;
  const auto plan = [&] {
    static_cast<void>(cairn::detail::load_plan(cairn::refer(fresh), kept.contents, tests::any_size));
  };
  for (std::size_t leaf = 0; leaf < 2; ++leaf) {
    kept.contents.leaves[leaf].shape = {most / 5 * 3};
    if (leaf == 0) CHECK_NOTHROW(plan());
  }
  CHECK_THROWS_WITH(plan(), ContainsSubstring("more than the memory of this machine"));
  CHECK(fresh.a.size() == 1);
}

struct explosive {
  std::vector<int> values;
  explosive() { throw std::runtime_error("a user's constructor"); }
  explicit explosive(int count) : values(static_cast<std::size_t>(count)) {}
  static auto cairn_fields() { return cairn::fields<&explosive::values>{}; }
};

TEST_CASE("what a user's code throws while it is tried is a cairn::error that names the path, and changes nothing") {
  struct state {
    std::vector<int> first;
    std::vector<std::unique_ptr<explosive>> all;
  };
  state original{{1, 2}, {}};
  original.all.push_back(std::make_unique<explosive>(3));
  const tests::kept kept(original);
  state fresh{{9}, {}};
  const auto failure = sample::failure_of([&] { kept.load(fresh); });
  CHECK(failure.code == cairn::errc::invalid);
  CHECK(failure.sentence == "cairn: kept cannot be loaded: all.0: a user's constructor");
  CHECK(fresh.first == std::vector<int>{9});
  CHECK(fresh.all.empty());
}

template <class A, class B>
std::pair<A&, B&> both(A& first, B& second) {
  return {first, second};
}

TEST_CASE("a part that refers to elements which the load frees or moves is refused, with both paths") {
  using layers = std::vector<std::vector<float>>;
  const auto refused = [](const auto& original, auto fresh, const std::string& part, const std::string& container) {
    tests::refuses(tests::kept(original), fresh, cairn::errc::mismatch,
                   part + " refers to elements of " + container + ", which the load");
  };
  std::vector<float> three{1, 2, 3}, seven(7);
  layers two{{1}, {2, 3}}, one{{}};
  std::map<std::string, layers> map{{"a", {{1}}}, {"b", {{2}}}}, other{{"a", {{1}, {2}, {3}}}, {"b", {{9}}}};
  using view = cairn::tensor_view<float>;
  refused(std::pair(three, view(three.data() + 1, {2})), std::pair<std::vector<float>&, view>(seven, {&seven[3], {2}}),
          "second", "first");
  refused(both(two, two[0]), both(one, one[0]), "second", "first");
  refused(both(map.at("a")[0], map), both(other.at("a")[1], other), "first", "second.a");
  std::map<std::string, layers> more{{"a", {{1}}}, {"c", {{}, {}}}};
  refused(both(map, map.at("b")), both(more, more.at("c")), "second", "first");
  CHECK(one == layers{{}});
  CHECK(seven.size() == 7);

  // The same container twice, parts of elements that stay, and parts of a container that keeps its size.
  const auto comes_back = [](const auto& original, auto fresh) {
    const tests::kept kept(original);
    kept.load(fresh);
    CHECK(tests::kept(fresh) == kept);
  };
  comes_back(both(two, two), both(one, one));
  CHECK(one == two);
  seven.resize(3);
  comes_back(std::pair(three, view(three.data() + 1, {2})),
             std::pair<std::vector<float>&, view>(seven, {&seven[1], {2}}));
  CHECK(seven == three);
  std::list<std::vector<float>> full{{1}, {2}}, half{{3}};
  comes_back(both(full, full.front()), both(half, half.front()));
  CHECK(half == full);
}

TEST_CASE("a reshaped array of an element keeps its further values, however many elements there are") {
  struct before {
    float a = 1;
    float b[3] = {1, 2, 3};
  };
  struct now {
    float a = 1;
    float b[4] = {5, 6, 7, 99};
  };
  for (const std::size_t rows : {20U, 20'000U}) {
    std::vector<now> fresh(10);
    tests::kept(std::vector<before>(rows))
        .load(fresh, {.rename = {}, .filter = {}, .reshape = [](std::string_view path) {
                        return path == "b" ? cairn::reshaping::grow : cairn::reshaping::none;
                      }});
    REQUIRE(fresh.size() == rows);
    CHECK(fresh[0].b[2] == 3);
    CHECK(fresh[0].b[3] == 99);
  }
}

TEST_CASE("what the check reads is not read again: copies, bool, numbers that may not fit, arrays that share memory") {
  struct stored {
    std::set<int> set{1, 2, 3};
    std::unordered_map<int, std::vector<float>> map{{1, {1, 2}}, {7, {}}};
    std::mt19937 engine{3};
    std::vector<bool> mask{true, false};
    bool flags[3] = {true, false, true};
    std::vector<std::int64_t> narrowed{1, 2, 3};
    std::vector<float> weight{1, 2};
  };
  struct loaded {
    std::set<int> set;
    std::unordered_map<int, std::vector<float>> map;
    std::mt19937 engine;
    std::vector<bool> mask;
    bool flags[3];
    std::vector<std::int32_t> narrowed;
    std::vector<float> weight;
  };
  tests::kept kept(stored{});
  std::map<std::string, int> reads;
  kept.contents.fetch = [&, fetch = kept.contents.fetch](std::size_t index, std::span<std::byte> out) {
    ++reads[kept.contents.leaves[index].path];
    fetch(index, out);
  };
  loaded state{};
  kept.load(state, {.rename = {}, .filter = {}, .convert = cairn::conversion::any});
  CHECK(state.set == std::set<int>{1, 2, 3});
  CHECK(state.map == stored().map);
  CHECK(state.engine == stored().engine);
  CHECK(state.narrowed == std::vector<std::int32_t>{1, 2, 3});
  CHECK(state.flags[2]);
  CHECK(reads.size() == kept.contents.leaves.size());
  for (const auto& [path, count] : reads) {
    CAPTURE(path);
    CHECK(count == 1);
  }
}

TEST_CASE("leaves are fetched once, as long as there is room for them") {
  std::size_t reads = 0;
  cairn::detail::catalog from;
  from.fetch = [&](std::size_t index, std::span<std::byte> out) {
    ++reads;
    std::fill(out.begin(), out.end(), static_cast<std::byte>(index));
  };
  cairn::detail::fetched_leaves kept(10);
  std::array<std::byte, 6> out{};
  for (int round = 0; round < 3; ++round)
    for (const std::size_t index : {1U, 2U}) {
      kept.fetch(from, index, out);
      CHECK(std::count(out.begin(), out.end(), static_cast<std::byte>(index)) == 6);
    }
  CHECK(reads == 4);  // the first one once
  CHECK(kept.has(1));
  CHECK_FALSE(kept.has(2));
  kept.fetch(from, 3, std::span(out).first(4));
  kept.fetch(from, 3, std::span(out).first(4));
  CHECK(reads == 5);
}

}  // namespace
