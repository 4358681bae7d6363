// SPDX-License-Identifier: MIT
// `save` of several ranks at a step whose checkpoint is there already.
#include "cairn/checkpointer.hpp"
#include "cairn/fields.hpp"
#include "cairn/schedule/policies.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/memory.hpp"
#include "cairn/store/naming.hpp"

#include "catch.hpp"
#include "ranks.hpp"

using cairn::detail::checkpoint_name;

namespace {

struct model {
  std::vector<float> weights;
  std::map<std::string, std::vector<double>> moments;
  std::vector<float> box;
  cairn::per_rank<std::uint64_t> seed;
};

model model_of(unsigned rank) {
  model made{std::vector<float>(30'000), {}, std::vector<float>(1000, static_cast<float>(rank)), {rank}};
  for (std::size_t i = 0; i < made.weights.size(); ++i) made.weights[i] = static_cast<float>(i) / 7;
  made.moments["first"].assign(3001, 0.5);
  made.moments["empty"];
  return made;
}

/// The state of a rank, of which each has another box.
cairn::state state_of(model& made, const cairn::groups::threads& group) {
  return {{"weights", made.weights},
          {"moments", made.moments},
          {"box", cairn::shard_of(made.box, {1000 * group.size()}, {1000 * group.rank()})},
          {"seed", made.seed}};
}

TEST_CASE("a checkpoint of which only the last sync has failed is replaced by the next save") {
  for (unsigned ranks = 2; ranks <= 4; ++ranks) {
    const cairn::any_store store = cairn::stores::memory();
    CHECK(at_each(ranks, [&](const cairn::groups::threads& group) {
            int left = group.rank() == 0 ? 2 : 0;  // the shard is prepared, then the checkpoint is published
            std::atomic<int> writes = 0;
            const hooked_store own{store,
                                   {.before_write = [&] { ++writes; },
                                    .after_write =
                                        [&] {
                                          if (left > 0 && --left == 0) cairn::fail(cairn::errc::io, {"no sync"});
                                        }}};
            cairn::checkpointer checkpoints(own, quick(), group);
            auto made = model_of(group.rank());
            const auto state = state_of(made, group);
            std::string what;
            try {
              checkpoints.save(state, {.step = 5});
            } catch (const cairn::error& cause) {
              what = cause.what();
            }
            require(what.find("rank 0: ") != what.npos && what.find("no sync") != what.npos, "another error");
            require(checkpoints.latest() == 5, "not published");
            checkpoints.wait();
            const int before = writes;
            checkpoints.save(state, {.step = 5});
            require(writes > before, "not written again");
            checkpoints.save(state, {.step = 6});
          }) == std::vector<std::string>(ranks));
    CHECK(store.list().size() == 2);
  }
}

/// Remembers something, so that checkpoints have notes.
struct remembering {
  static constexpr bool uses_steps_alone = true;
  [[nodiscard]] bool should_save(const cairn::moment& /*now*/) const { return true; }
  [[nodiscard]] cairn::policy_memory remember() const { return {{"seen", {1}}}; }
  void recall(const cairn::policy_memory& /*notes*/) {}
};

TEST_CASE("ranks whose policy remembers something write again: the checkpoint says that the run has ended") {
  const cairn::any_store store = cairn::stores::memory();
  const auto ended = [&] { return cairn::detail::read_index(*store.open(checkpoint_name(1))).info.notes.at("ended"); };
  CHECK(at_each(3, [&](const cairn::groups::threads& group) {
          auto options = quick();
          options.when = remembering{};
          cairn::checkpointer checkpoints(store, options, group);
          auto made = model_of(group.rank());
          const auto state = state_of(made, group);
          static_cast<void>(checkpoints.step(state, {.step = 1}));
          checkpoints.wait();
          if (group.rank() == 0) require(ended() == std::vector<double>{0}, "ended");
          checkpoints.save(state, {.step = 1});
          require(checkpoints.stats().saves == 2, "not written");
        }) == std::vector<std::string>(3));
  CHECK(ended() == std::vector<double>{1});
}

}  // namespace
