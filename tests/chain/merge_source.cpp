// SPDX-License-Identifier: MIT
#include "cairn/chain/attempt.hpp"

#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "cairn/chain/reader.hpp"
#include "cairn/merge.hpp"
#include "cairn/store/memory.hpp"
#include "catch.hpp"
#include "chain.hpp"
#include "save_as.hpp"

using cairn::detail::checkpoint_name;

namespace {

/// Steps 1 to 4 in `shards` shards, all but the first one deltas.
cairn::any_store chain_of(std::size_t shards) {
  cairn::any_store store = cairn::stores::memory();
  std::mt19937 random(7);
  auto state = chain::start(random);
  cairn::detail::delta_base base;
  for (std::uint64_t step = 1; step <= 4; ++step) {
    chain::train(state, random);
    tests::save_as(store, checkpoint_name(step), state,
                   {.step = step, .shards = shards, .codecs = chain::mixed_rules()}, &base);
  }
  return store;
}

}  // namespace

TEST_CASE("ranks merge a chain of any number of shards, one shard each") {
  for (const std::size_t shards : {1U, 2U, 3U, 7U})
    for (const std::size_t ranks : {1U, 2U, 3U, 5U})
      for (const auto deltas :
           {std::optional<std::size_t>(2), std::optional<std::size_t>(9), std::optional<std::size_t>()}) {
        INFO(shards << " shards, " << ranks << " ranks");
        auto store = chain_of(shards);
        const auto name = checkpoint_name(4);
        const auto bits = chain::restored(store, name);
        const auto id = cairn::detail::checkpoint_reader(store, name).id();
        std::vector<std::unique_ptr<cairn::detail::merge_source>> merges;
        std::vector<std::unique_ptr<cairn::detail::attempt>> attempts;
        std::vector<std::string> records;
        for (std::size_t rank = 0; rank < ranks; ++rank) {
          merges.push_back(cairn::detail::open_merge(
              store, {.name = name, .id = id, .ranks = ranks, .rank = rank, .how = {.deltas = deltas}}));
          attempts.push_back(std::make_unique<cairn::detail::attempt>(store, name, *merges.back(), rank));
        }
        const auto begun = attempts.front()->begin();
        for (std::size_t rank = 0; rank < ranks; ++rank) {
          if (rank != 0) attempts[rank]->join(begun);
          attempts[rank]->write();
          records.push_back(attempts[rank]->record());
        }
        CHECK(cairn::detail::chain_reader(store, name).links().size() == 4);
        attempts.front()->unite(records);
        const auto made = attempts.front()->publish();
        const auto report = merges.front()->published(made);
        CHECK(report.checkpoint == "memory/" + name);
        CHECK(report.deltas == (deltas == 2 ? 2 : 3));
        CHECK(report.parent == (deltas ? checkpoint_name(deltas == 2 ? 2 : 1) : ""));
        for (std::size_t rank = 1; rank < ranks; ++rank) {
          const auto same = merges[rank]->published(made);
          CHECK(same.bytes == report.bytes);
          CHECK(same.parent == report.parent);
          CHECK(same.deltas == report.deltas);
        }
        const cairn::detail::chain_reader reader(store, name);
        CHECK(reader.links().size() == (deltas == 2 ? 3 : deltas ? 2 : 1));
        CHECK(reader.newest().id() == id);
        CHECK(reader.newest().shards() == (ranks == 1 ? shards : ranks));
        CHECK(chain::restored(store, name) == bits);
      }
}

TEST_CASE("a merge that is not published leaves the chain, and one of another checkpoint is refused") {
  auto store = chain_of(2);
  const auto name = checkpoint_name(4);
  const auto files = store.open(name)->files();
  const auto id = cairn::detail::checkpoint_reader(store, name).id();
  {
    const auto merge =
        cairn::detail::open_merge(store, {.name = name, .id = id, .ranks = 2, .rank = 0, .how = {.deltas = 2}});
    cairn::detail::attempt making(store, name, *merge);
    static_cast<void>(making.begin());
    making.write();
  }
  CHECK(store.open(name)->files() == files);
  CHECK(cairn::detail::chain_reader(store, name).links().size() == 4);
  static_cast<void>(store.begin(name));  // nobody is writing it
  const auto other =
      cairn::detail::open_merge(store, {.name = name, .id = id + 1, .ranks = 2, .rank = 1, .how = {.deltas = 2}});
  CHECK_THROWS_WITH(other->open(nullptr), Catch::Matchers::ContainsSubstring("another checkpoint has replaced it"));
}
