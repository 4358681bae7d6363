// SPDX-License-Identifier: MIT
#include "cairn/run/state_sum.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "cairn/run/staging.hpp"
#include "cairn/state/describe.hpp"
#include "catch.hpp"
#include "store/sample.hpp"

using cairn::detail::sum_of;

TEST_CASE("the sum of a state does not depend on where its elements are and how they are cut") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 50; ++round) {
    auto leaves = sample::random_leaves(random, 8, 30'000);
    const auto memory = leaves.list;
    for (auto& each : leaves.list) each.owner.reset();  // else they are not copied
    cairn::detail::description what{leaves.list, {}};
    const auto sum = sum_of(what);
    for (const std::size_t shards : {0U, 1U, 2U, 7U}) {
      cairn::detail::staging staging([](const auto&, std::size_t) { return std::size_t{100}; });
      const auto plan = cairn::detail::plan_staging(staging, what.leaves, shards, std::nullopt);
      cairn::detail::state_sum of_copy(what);
      for (const auto& shard : plan.shards)
        of_copy.add(what.leaves, staging.copy(what.leaves, std::span(&shard, 1), 1));
      CHECK(of_copy.value() == sum);
    }
  }
}

TEST_CASE("states that differ in anything have different sums") {
  struct state {
    std::vector<float> weights;
    std::optional<int> chosen;
    std::map<std::string, std::vector<int>> slots;
    std::string note;
  };
  const state same{{1, 2, 3}, 4, {{"a", {1, 2}}, {"b", {}}}, "x"};
  std::set<std::uint64_t> sums;
  const auto add = [&](const auto& other) { CHECK(sums.insert(sum_of(cairn::detail::describe(other))).second); };
  add(same);
  CHECK(sum_of(cairn::detail::describe(state(same))) == *sums.begin());
  for (const auto& change : std::vector<void (*)(state&)>{
           [](state& s) { s.weights[2] = 3.5F; }, [](state& s) { s.weights.pop_back(); },
           [](state& s) { s.chosen.reset(); }, [](state& s) { s.chosen = 5; }, [](state& s) { s.slots["c"]; },
           [](state& s) { s.slots = {{"a", {1}}, {"b", {2}}}; }, [](state& s) { s.note = "y"; }}) {
    auto other = same;
    change(other);
    add(other);
  }
  add(std::vector<float>{1, 2});
  add(std::vector<std::uint32_t>{0x3f800000, 0x40000000});  // the same bytes
}
