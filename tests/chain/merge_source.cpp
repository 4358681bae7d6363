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

TEST_CASE("a merge that is not published leaves the chain, and one of another checkpoint is refused") {
  auto store = chain_of(2);
  const auto name = checkpoint_name(4);
  const auto files = store.open(name)->files();
  const auto id = cairn::detail::checkpoint_id(cairn::detail::open_checkpoint(store, name).index);
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
