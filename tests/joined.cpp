// SPDX-License-Identifier: MIT
// Containers of many small objects, which are saved as columns, through what users call.

#include "cairn/checkpointer.hpp"
#include "cairn/fields.hpp"
#include "cairn/load.hpp"
#include "cairn/save.hpp"
#include "cairn/store/memory.hpp"
#include "catch.hpp"
#include "ranks.hpp"

namespace {

struct transition {
  std::vector<float> observation;
  std::vector<std::uint16_t> legal;
  std::optional<std::string> note;
  double reward = 0;
  friend bool operator==(const transition&, const transition&) = default;
};
struct trainer {
  std::vector<float> weights;
  std::vector<transition> replay;
  std::map<std::string, std::vector<float>> words;
  friend bool operator==(const trainer&, const trainer&) = default;
};

trainer make_trainer(unsigned seed) {
  std::mt19937 random(seed);
  trainer made;
  made.weights.resize(5000);
  for (auto& each : made.weights) each = static_cast<float>(random() % 1000) / 7;
  made.replay.resize(1000 + random() % 100);
  for (auto& each : made.replay) {
    each.observation.assign(random() % 20, static_cast<float>(random() % 50));
    each.legal.assign(random() % 3, static_cast<std::uint16_t>(random()));
    if (random() % 2 == 0) each.note = std::to_string(random());
    each.reward = static_cast<double>(random());
  }
  for (int i = 0; i < 400; ++i) made.words["word." + std::to_string(random())].assign(random() % 5, 2.0F);
  return made;
}

TEST_CASE("many small objects come back from anchors and deltas of any codec") {
  for (const auto& codec : {cairn::any_codec(cairn::codecs::raw{}), cairn::any_codec(cairn::codecs::lossless{}),
                            cairn::any_codec(cairn::codecs::lossless{.xor_parent = true})}) {
    const cairn::any_store store = cairn::stores::memory();
    cairn::checkpointer checkpoints(store, {.codecs = {{"*", codec}}});
    auto state = make_trainer(1);
    std::vector<trainer> saved;
    for (unsigned step = 1; step <= 5; ++step) {
      state.weights[step] += 1;
      if (step == 2) state.replay[7].reward = 0.5;
      if (step == 3) state.replay.push_back({{1, 2, 3}, {4}, "new", 1});
      if (step == 4) state.replay.resize(40);
      if (step == 5) state = make_trainer(5);
      checkpoints.save(state, {.step = step});
      saved.push_back(state);
    }
    for (unsigned step = 1; step <= 5; ++step) {
      trainer fresh, other = make_trainer(9);
      const auto name = "step-00000000" + std::to_string(step);
      cairn::load(store, name, fresh);
      CHECK(fresh == saved[step - 1]);
      cairn::load(store, name, other, {.reshape = [](std::string_view) { return cairn::reshaping::resize; }});
      CHECK(other == saved[step - 1]);
    }
    trainer restored;
    checkpoints.restore(restored);
    CHECK(restored == state);
  }
}

TEST_CASE("two ranks save and restore many small objects together") {
  const auto state = make_trainer(3);
  for (unsigned saved = 1; saved <= 2; ++saved) {
    const cairn::any_store store = cairn::stores::memory();
    CHECK(common(at_each(saved, [&](const cairn::groups::threads& group) {
            cairn::checkpointer checkpoints(store, quick(), group);
            checkpoints.save(state, {.step = 7});
          })).empty());
    for (unsigned loaded = 1; loaded <= 2; ++loaded)
      CHECK(common(at_each(loaded, [&](const cairn::groups::threads& group) {
              cairn::checkpointer checkpoints(store, quick(), group);
              for (const auto how : {cairn::read_sharing::measured, cairn::read_sharing::always}) {
                trainer restored;
                require(checkpoints.restore(restored, {.sharing = how}) && restored == state, "not restored");
              }
            })).empty());
  }
}

TEST_CASE("a run goes on while the sizes of small objects change") {
  const cairn::any_store store = cairn::stores::memory();
  auto state = make_trainer(1);
  std::vector<trainer> states{state};
  {
    cairn::checkpointer checkpoints(store, {.when = cairn::policies::every_steps{1}});
    for (unsigned step = 1; step <= 20; ++step) {
      state.replay[step].observation.resize(step * 10);
      states.push_back(state);
      static_cast<void>(checkpoints.step(state, {.step = step}));
      state.replay[step].reward = -1;  // the copy does not have it
    }
    checkpoints.wait();
  }
  trainer restored;
  const auto report = cairn::checkpointer(store).restore(restored);
  REQUIRE(report);
  CHECK(restored == states[report->step]);
}

struct old_item {
  std::vector<int> values;
};
struct old_state {
  std::vector<old_item> items;
};
struct new_item {
  std::vector<int> values;
  std::unique_ptr<int> sum;
};
struct new_state {
  std::vector<new_item> items;
  static constexpr unsigned cairn_version = 1;
  using cairn_changes = cairn::since<1, "items">;
  void cairn_migrate(cairn::stored_parts& old) {
    for (auto& each : old.get<std::vector<old_item>>("items")) {
      int sum = 0;
      for (const int value : each.values) sum += value;
      items.push_back({std::move(each.values), std::make_unique<int>(sum)});
    }
  }
};

}  // namespace

TEST_CASE("a migration reads many small objects") {
  const cairn::any_store store = cairn::stores::memory();
  old_state old;
  for (int i = 0; i < 500; ++i) old.items.push_back({std::vector<int>(static_cast<std::size_t>(i % 3), i)});
  cairn::save(store, "old", old);
  new_state state;
  cairn::load(store, "old", state);
  REQUIRE(state.items.size() == 500);
  CHECK(*state.items[5].sum == 10);
}
