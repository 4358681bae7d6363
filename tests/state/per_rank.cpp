// SPDX-License-Identifier: MIT
#include "cairn/state/per_rank.hpp"

#include <numeric>

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

}  // namespace

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
  tests::kept kept(cairn::detail::describe(cairn::per_rank<int>{7}));
  kept.contents.structure.at("value").number = 0;
  cairn::per_rank<int> fresh{1};
  CHECK_THROWS_WITH(kept.load(fresh), Catch::Matchers::ContainsSubstring("saved by no rank"));
  CHECK(*fresh == 1);
}

TEST_CASE("on another number of ranks per-rank state is refused, or redistributed") {
  std::vector<cairn::per_rank<int>> states{{10}, {20}, {30}};
  cairn::per_rank<int> fresh{7};
  CHECK_THROWS_WITH(united(states).load(fresh, {}, {0, 2}), Catch::Matchers::ContainsSubstring("saved by 3 ranks"));
  CHECK(*fresh == 7);

  std::vector<cairn::per_rank<int, sum_of_all>> counters{{10}, {20}, {30}};
  cairn::per_rank<int, sum_of_all> counter;
  united(counters).load(counter, {}, {0, 2});
  CHECK(*counter == 59);
  united(counters).load(counter, {}, {1, 2});
  CHECK(*counter == 1);
}
