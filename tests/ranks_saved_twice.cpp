// SPDX-License-Identifier: MIT
// `save` of several ranks where their checkpoint is published already.
#include "cairn/checkpointer.hpp"
#include "cairn/fields.hpp"
#include "cairn/group/threads.hpp"
#include "cairn/load.hpp"
#include "cairn/merge.hpp"
#include "cairn/run/policy_driver.hpp"
#include "cairn/schedule/policies.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/memory.hpp"
#include "cairn/store/naming.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "catch.hpp"
#include "chain.hpp"
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

/// A store that counts the checkpoints that are begun or joined.
struct counted {
  cairn::any_store store = cairn::stores::memory();
  std::shared_ptr<std::atomic<int>> begun = std::make_shared<std::atomic<int>>(0);

  [[nodiscard]] std::string location() const { return store.location(); }
  [[nodiscard]] cairn::stores::ownership lock() { return store.lock(); }
  [[nodiscard]] std::unique_ptr<cairn::stores::transaction> begin(std::string_view name) {
    ++*begun;
    return store.begin(name);
  }
  [[nodiscard]] std::unique_ptr<cairn::stores::transaction> join(std::string_view name, std::string_view attempt) {
    ++*begun;
    return store.join(name, attempt);
  }
  [[nodiscard]] std::vector<std::string> list() const { return store.list(); }
  [[nodiscard]] std::vector<std::string> files(std::string_view name) const { return store.files(name); }
  [[nodiscard]] std::unique_ptr<cairn::stores::source> open(std::string_view name, std::string_view file) const {
    return store.open(name, file);
  }
  void remove(std::string_view name) { store.remove(name); }
};

/// Whether all ranks have written in `act`, or none; else throws. Called by all.
bool have_written(cairn::checkpointer& checkpoints, const counted& store, const cairn::groups::threads& group,
                  const std::function<void()>& act) {
  checkpoints.wait();
  const int before = *store.begun;
  checkpoints.wait();
  act();
  checkpoints.wait();
  const int after = *store.begun;
  checkpoints.wait();
  require(after == before || after == before + static_cast<int>(group.size()), "some ranks have written");
  return after != before;
}

TEST_CASE("ranks write nothing in `save` where their checkpoint is published, and only then") {
  for (unsigned ranks = 1; ranks <= 4; ++ranks)
    for (const bool in_background : {false, true}) {
      INFO(ranks << " ranks, in_background " << in_background);
      const counted store;
      CHECK(at_each(ranks, [&](const cairn::groups::threads& group) {
              auto options = quick();
              options.when = cairn::policies::every_steps{1};
              cairn::checkpointer checkpoints(store, options, group);
              auto made = model_of(group.rank());
              auto state = state_of(made, group);
              cairn::save_report first;
              if (in_background) {
                const auto outcome = checkpoints.step(state, {.step = 1, .loss = 0.5});
                checkpoints.wait();
                first = outcome.save.get();
              } else {
                first = checkpoints.save(state, {.step = 1, .loss = 0.5});
              }
              const auto save = [&](const cairn::observation& now) {
                return have_written(checkpoints, store, group, [&] {
                  const auto report = checkpoints.save(state, now);
                  require(report.path == first.path || now.step != 1, "another path");
                  if (now.step == 1 && checkpoints.stats().saves == 1)
                    require(report.bytes == first.bytes && report.state_bytes == first.state_bytes, "another report");
                });
              };
              require(!save({.step = 1, .loss = 0.5}), "written twice");
              require(!save({.step = 1}), "written twice with fewer metrics");
              require(checkpoints.stats().saves == 1, "counted");
              require(save({.step = 1, .loss = 0.25}), "another metric is not written");
              made.weights[29'999] += 1;
              require(save({.step = 1, .loss = 0.25}), "another value of all is not written");
              require(!save({.step = 1, .loss = 0.25}), "written twice after a change");
              if (group.rank() + 1 == group.size()) made.seed.value += 1;
              require(save({.step = 1, .loss = 0.25}), "another value of one rank is not written");
              if (group.rank() == 0) made.box[7] = -1;
              require(save({.step = 1, .loss = 0.25}), "another box is not written");
              made.moments["more"].assign(5, 1);
              require(save({.step = 1, .loss = 0.25}), "another array is not written");
              require(!save({.step = 1, .loss = 0.25}), "written twice with another array");
              require(save({.step = 2, .loss = 0.25}), "another step is not written");
            }) == std::vector<std::string>(ranks));
      for (unsigned others = 1; others <= 4; ++others) {
        const auto before = store.begun->load();
        CHECK(at_each(others, [&](const cairn::groups::threads& group) {
                cairn::checkpointer checkpoints(store, quick(), group);
                model made = model_of(group.rank());
                made.box.resize(1000 * ranks);  // all of it
                cairn::state all{{"weights", made.weights}, {"moments", made.moments}, {"box", made.box}};
                require(checkpoints.restore(all, {.strict = false}).has_value(), "not restored");
                require(have_written(checkpoints, store, group,
                                     [&] {
                                       checkpoints.save(all, {.step = 2});  // without the seeds
                                     }),
                        "another state is not written");
                require(!have_written(checkpoints, store, group, [&] { checkpoints.save(all, {.step = 2}); }),
                        "written twice");
              }) == std::vector<std::string>(others));
        CHECK(*store.begun == before + static_cast<int>(others));
      }
    }
}

TEST_CASE("ranks that have restored a checkpoint do not write it again, if they are as many") {
  const counted store;
  const auto run = [&](unsigned ranks, bool writes) {
    CHECK(at_each(ranks, [&](const cairn::groups::threads& group) {
            cairn::checkpointer checkpoints(store, quick(), group);
            std::vector<float> state(20'000);
            require(checkpoints.restore(state).has_value(), "not restored");
            require(have_written(checkpoints, store, group, [&] { checkpoints.save(state, {.step = 3}); }) == writes,
                    "written, or not");
          }) == std::vector<std::string>(ranks));
  };
  CHECK(at_each(3, [&](const cairn::groups::threads& group) {
          cairn::checkpointer checkpoints(store, quick(), group);
          std::vector<float> state(20'000);
          for (std::uint64_t step = 1; step <= 3;
               ++step) {  // the last plan is of the bytes that the one before has stored
            for (std::size_t i = 0; i < 10'000; ++i) state[i] = static_cast<float>(i * step);
            checkpoints.save(state, {.step = step});
          }
        }) == std::vector<std::string>(3));
  run(3, false);
  run(2, true);
  run(2, false);
  run(4, true);
  run(4, false);
}

TEST_CASE("a checkpoint of which only the last sync has failed is found by the next save") {
  for (unsigned ranks = 2; ranks <= 4; ++ranks) {
    const counted store;
    CHECK(at_each(ranks, [&](const cairn::groups::threads& group) {
            int left = group.rank() == 0 ? 2 : 0;  // the shard is prepared, then the checkpoint is published
            const hooked_store own{store, {.after_write = [&] {
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
            require(!have_written(checkpoints, store, group, [&] { checkpoints.save(state, {.step = 5}); }),
                    "written again");
            checkpoints.save(state, {.step = 6});
          }) == std::vector<std::string>(ranks));
    CHECK(store.list().size() == 2);
  }
}

TEST_CASE("a delta that `step` has saved is not written again by `save`, also after a merge") {
  for (unsigned ranks = 1; ranks <= 4; ++ranks) {
    INFO(ranks << " ranks");
    const counted store;
    CHECK(at_each(ranks, [&](const cairn::groups::threads& group) {
            auto options = quick();
            options.when = cairn::policies::every_steps{1};
            options.codecs = chain::mixed_rules();
            options.chain = {.anchor_every = 1000, .merge_every = 2};
            cairn::checkpointer checkpoints(store, options, group);
            std::mt19937 random(3);
            auto state = chain::start(random);
            for (std::uint64_t step = 1; step <= 3; ++step) {
              chain::train(state, random);
              require(checkpoints.step(state, {.step = step}).started, "not saved");
              checkpoints.wait();
            }
            require(checkpoints.stats().merged == 1, "not merged");
            const auto save = [&] {
              return have_written(checkpoints, store, group, [&] { checkpoints.save(state, {.step = 3}); });
            };
            require(!save(), "written twice");
            state.adam.v.back() += 1;
            require(save(), "another value is not written");
          }) == std::vector<std::string>(ranks));
  }
}

/// Remembers something, so that checkpoints have notes.
struct remembering {
  static constexpr bool uses_steps_alone = true;
  [[nodiscard]] bool should_save(const cairn::moment& /*now*/) const { return true; }
  [[nodiscard]] cairn::policy_memory remember() const { return {{"seen", {1}}}; }
  void recall(const cairn::policy_memory& /*notes*/) {}
};

TEST_CASE("the checkpoint that is found gets the notes that the run has ended") {
  const cairn::any_store store = cairn::stores::memory();
  const auto notes = [&] { return cairn::detail::read_index(store, checkpoint_name(1)).info.notes; };
  std::atomic<bool> said{true};
  CHECK(at_each(3, [&](const cairn::groups::threads& group) {
          auto options = quick();
          options.when = remembering{};
          cairn::checkpointer checkpoints(store, options, group);
          auto made = model_of(group.rank());
          const auto state = state_of(made, group);
          static_cast<void>(checkpoints.step(state, {.step = 1}));
          checkpoints.wait();
          if (group.rank() == 0) said = cairn::detail::policy_driver::say_end(notes());
          checkpoints.wait();
          checkpoints.save(state, {.step = 1});
          require(checkpoints.stats().saves == 1, "written twice");
        }) == std::vector<std::string>(3));
  CHECK_FALSE(said);
  CHECK(cairn::detail::policy_driver::say_end(notes()));
}

}  // namespace
