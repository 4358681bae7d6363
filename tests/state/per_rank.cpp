// SPDX-License-Identifier: MIT
#include "cairn/state/words.hpp"

#include "cairn/load.hpp"
#include "cairn/save.hpp"
#include "cairn/store/memory.hpp"
#include "catch.hpp"
#include "state/kept.hpp"

namespace {

struct sum_of_all {
  static int redistribute(std::vector<int> saved, unsigned rank, unsigned ranks) {
    const int total = std::accumulate(saved.begin(), saved.end(), 0);
    return rank == 0 ? total - static_cast<int>(ranks - 1) : 1;
  }
};

/// What `ranks` ranks save, united as a reader unites the structure and leaves of their shards.
template <class State>
tests::kept united(std::vector<State>& states) {
  cairn::detail::description all;
  std::vector<cairn::detail::description> each;
  const auto ranks = static_cast<unsigned>(states.size());
  for (unsigned rank = 0; rank < ranks; ++rank) {
    auto what = cairn::detail::describe(states[rank], {rank, ranks});
    all.leaves.insert(all.leaves.end(), what.leaves.begin(), what.leaves.end());
    all.structure.merge(what.structure);
  }
  return tests::kept(all);
}

TEST_CASE("each rank gets its own value back") {
  std::vector<cairn::per_rank<int>> states{{10}, {20}, {30}};
  const auto kept = united(states);
  CHECK(kept.paths() == "rank0 rank1 rank2");
  for (unsigned rank = 0; rank < 3; ++rank) {
    cairn::per_rank<int> fresh;
    const auto report = kept.load(fresh, {}, {rank, 3});
    CHECK(*fresh == 10 * static_cast<int>(rank + 1));
    CHECK(report.unexpected.empty());
  }
}

TEST_CASE("per-rank state of no rank is refused") {
  tests::kept kept(cairn::per_rank<int>{7});
  kept.contents.structure.at("value").number = 0;
  cairn::per_rank<int> fresh{1};
  CHECK_THROWS_WITH(kept.load(fresh), ContainsSubstring("saved by no rank"));
  CHECK(*fresh == 1);
}

TEST_CASE("on another number of ranks per-rank state is refused, or redistributed") {
  std::vector<cairn::per_rank<int>> states{{10}, {20}, {30}};
  cairn::per_rank<int> fresh{7};
  CHECK_THROWS_WITH(united(states).load(fresh, {}, {0, 2}), ContainsSubstring("saved by 3 ranks"));
  CHECK(*fresh == 7);

  std::vector<cairn::per_rank<int, sum_of_all>> counters{{10}, {20}, {30}};
  cairn::per_rank<int, sum_of_all> counter;
  united(counters).load(counter, {}, {0, 2});
  CHECK(*counter == 59);
  united(counters).load(counter, {}, {1, 2});
  CHECK(*counter == 1);
}

TEST_CASE("a box is described with its place") {
  std::vector<float> values(4);
  const auto box = cairn::shard_of(values, {12}, {8});
  const auto leaves = cairn::detail::describe(cairn::const_state{{"w", box}}).leaves;
  REQUIRE(leaves.size() == 1);
  CHECK(leaves[0].shape == cairn::extents{4});
  REQUIRE(leaves[0].place);
  CHECK(leaves[0].place->whole == cairn::extents{12});
  CHECK(leaves[0].place->first == cairn::extents{8});
  CHECK(static_cast<void*>(leaves[0].memory) == values.data());
}

TEST_CASE("the copies of a box have its parts between them") {
  std::vector<float> values(10);
  for (unsigned count = 1; count <= 12; ++count) {
    std::uint64_t next = 20, elements = 0;
    for (unsigned number = 0; number < count; ++number) {
      const auto box = cairn::shard_of(values, {40}, {20}, {count, number});
      for (const auto& leaf : cairn::detail::describe(cairn::const_state{{"w", box}}).leaves) {
        CHECK(leaf.place->first.front() == next);
        CHECK(static_cast<void*>(leaf.memory) == values.data() + (next - 20));
        next += leaf.count();
        elements += leaf.count();
      }
    }
    CHECK(elements == 10);
  }
}

TEST_CASE("a box that is not inside is refused, and so is a copy that is not there") {
  std::array<double, 3> values{};
  const auto what = [&](const cairn::extents& whole, const cairn::extents& first, cairn::box_copies copies = {}) {
    const auto box = cairn::shard_of(values, whole, first, copies);
    try {
      static_cast<void>(cairn::detail::describe(cairn::const_state{{"w", box}}));
    } catch (const cairn::error& cause) {
      CHECK(cause.code() == cairn::errc::invalid);
      return std::string(cause.what());
    }
    return std::string();
  };
  CHECK(what({3}, {0}).empty());
  CHECK_THAT(what({5}, {3}), ContainsSubstring("w: a box of shape [3] at [3] is not inside of an array of shape [5]"));
  CHECK_THAT(what({5}, {~std::uint64_t{0}}), ContainsSubstring("is not inside"));
  CHECK_THAT(what({5, 5}, {0, 0}), ContainsSubstring("is not inside"));
  CHECK_THAT(what({5}, {}), ContainsSubstring("is not inside"));
  CHECK_THAT(what({5}, {0}, {2, 2}), ContainsSubstring("copy 2 of 2"));
  CHECK_THAT(what({5}, {0}, {0, 0}), ContainsSubstring("copy 0 of 0"));
  CHECK_THAT(what({std::uint64_t{1} << 50U}, {0}), ContainsSubstring("more than 2^48 bytes"));
}

TEST_CASE("boxes in a container are boxes of different arrays") {
  std::vector<float> values(2);
  const std::vector<cairn::sharded<std::vector<float>>> rows(2, cairn::shard_of(values, {4}, {2}));
  const auto leaves = cairn::detail::describe(cairn::const_state{{"rows", rows}}).leaves;
  REQUIRE(leaves.size() == 2);
  CHECK(leaves[0].path == "rows.0");
  CHECK(leaves[1].path == "rows.1");
  CHECK((leaves[0].place && leaves[1].place));
}

TEST_CASE("a process without a group loads a box of an array, and saves a box that is the whole") {
  cairn::any_store store = cairn::stores::memory();
  std::vector<int> values{1, 2, 3, 4, 5}, part(2);
  cairn::save(store, "c", cairn::state{{"v", cairn::shard_of(values, {5}, {0})}});
  cairn::state some{{"v", cairn::shard_of(part, {5}, {2})}};
  const auto report = cairn::load(store, "c", some);
  CHECK(part == std::vector<int>{3, 4});
  CHECK(report.bytes == 8);
  std::vector<int> all;
  cairn::state whole{{"v", all}};
  cairn::load(store, "c", whole);
  CHECK(all == values);
}

}  // namespace
