// SPDX-License-Identifier: MIT
// Runs that continue from an earlier step than the newest checkpoint: no checkpoint of theirs may be lost silently.

#include "cairn/checkpointer.hpp"
#include "cairn/inspect.hpp"
#include "cairn/load.hpp"
#include "cairn/save.hpp"
#include "cairn/store/directory.hpp"
#include "catch.hpp"
#include "chain_checks.hpp"
#include "gate.hpp"
#include "hooked_store.hpp"
#include "hostile/files.hpp"
#include "recording_policy.hpp"
#include "trainer.hpp"
#include "in_scratch.hpp"

using cairn::checkpointer;
using cairn::checkpointer_options;
using cairn::errc;
using cairn::detail::checkpoint_name;
using tests::in_scratch;
using tests::trained;
using tests::trainer;
using kind = cairn::event::kind;
constexpr auto keep = cairn::when_failed::keep_training;
using steps = std::vector<std::uint64_t>;

namespace {

/// A store with checkpoints of these steps.
cairn::stores::memory store_with(const steps& at) {
  const cairn::stores::memory store;
  checkpointer earlier(store);
  for (const auto step : at)
    earlier.save(trained(step), {.step = step, .loss = step == 2 ? 0.0 : static_cast<double>(step)});
  return store;
}

template <class Act>
void check_refused(const Act& act, std::uint64_t step, std::uint64_t newest) {
  const auto failure = sample::failure_of(act);
  CHECK(failure.code == errc::stale);
  CHECK(failure.says("step " + std::to_string(step) + " is below step " + std::to_string(newest) +
                     ", the newest checkpoint in memory"));
  CHECK(failure.says("restore"));
  CHECK(failure.says("remove_after"));
  CHECK(failure.says("on_older_step = replace"));
  CHECK(failure.says("another directory"));
}

/// The states after 0 to `steps` steps of one training.
std::vector<chain::state> states(std::size_t steps) {
  std::mt19937 random(1);
  std::vector<chain::state> all{chain::start(random, 600)};
  while (all.size() <= steps) chain::train(all.emplace_back(all.back()), random);
  return all;
}

struct when_set {
  const bool* is_due;
  [[nodiscard]] bool should_save(const cairn::moment&) const { return *is_due; }
};

/// Ways to come to a step below the newest checkpoint, which is that of step 9.
struct way {
  const char* name;
  std::function<void(checkpointer&)> go;
};

std::vector<way> ways_back() {
  return {{"nothing is restored", [](checkpointer&) {}},
          {"an older step is restored",
           [](checkpointer& run) {
             trainer state;
             REQUIRE(run.restore(state, {.step = 2})->step == 2);
           }},
          {"the best checkpoint is restored", [](checkpointer& run) {
             trainer state;
             REQUIRE(run.restore_best(state)->step == 2);
           }}};
}

TEST_CASE("a step below the newest checkpoint is refused at the first call, whether or not a save is due") {
  for (const auto& [name, go] : ways_back())
    for (const auto on_failure : {cairn::when_failed::raise, keep})
      for (const bool asynchronous : {true, false}) {
        INFO(name << ", asynchronous: " << asynchronous);
        const auto store = store_with({2, 5, 9});
        checkpointer run(store, {.keep_last = 2,
                                 .when = cairn::policies::every_steps{0},
                                 .asynchronous = asynchronous,
                                 .on_failure = on_failure});
        go(run);
        check_refused([&] { std::ignore = run.step(trained(3), {.step = 3}); }, 3, 9);
        check_refused([&] { run.save(trained(8), {.step = 8}); }, 8, 9);
        CHECK(run.steps() == steps{2, 5, 9});
        CHECK(run.stats().failed == 1);  // the save; a step is refused before it saves
        CHECK_NOTHROW(run.step(trained(9), {.step = 9}));
        CHECK_NOTHROW(run.save(trained(90), {.step = 9}));
        trainer state;
        CHECK(checkpointer(store).restore(state)->step == 9);
        CHECK(state == trained(90));
        CHECK(run.steps() == steps{5, 9});
      }
}

TEST_CASE("the checkpoint of a running save counts as the newest") {
  tests::gated_store store;
  checkpointer run(store, {.when = cairn::policies::every_steps{1}});
  std::ignore = run.step(trained(4), {.step = 4});
  run.wait();
  check_refused([&] { run.save(trained(3), {.step = 3}); }, 3, 4);
  store.entrance->close();
  CHECK(run.step(trained(7), {.step = 7}).started);
  const auto failure = sample::failure_of([&] { std::ignore = run.step(trained(5), {.step = 5}); });
  store.entrance->open();
  CHECK(failure.code == errc::stale);
  CHECK(failure.says("step 5 is below step 7"));
  run.wait();
  CHECK(run.steps() == steps{4, 7});
}

TEST_CASE("a save that failed does not count: earlier steps may be saved") {
  tests::gated_store store;
  bool is_full = false;
  store.refuses = [&](std::string_view) { return is_full; };
  checkpointer run(store, {.on_failure = keep});
  run.save(trained(1), {.step = 1});
  is_full = true;
  CHECK_THROWS_AS(run.save(trained(6), {.step = 6}), cairn::error);
  is_full = false;
  run.save(trained(2), {.step = 2});
  CHECK(run.steps() == steps{1, 2});
}

TEST_CASE("checkpoints that a restore passed over as damaged do not count, and one that is repaired does") {
  const sample::scratch scratch;
  const auto root = scratch.path("run");
  const auto index_of = [&](std::uint64_t step) { return root + "/" + checkpoint_name(step) + "/index.json"; };
  {
    checkpointer earlier(root);
    for (const std::uint64_t step : {1U, 2U, 3U, 4U}) earlier.save(trained(step), {.step = step});
  }
  const auto index = sample::slurp(index_of(4));
  for (const std::uint64_t step : {3U, 4U}) sample::spill(index_of(step), "{");
  checkpointer run(root, {.when = cairn::policies::every_steps{0}});
  trainer state;
  REQUIRE(run.restore(state)->step == 2);
  CHECK_NOTHROW(run.step(trained(2), {.step = 2}));
  CHECK(sample::failure_of([&] { run.save(trained(1), {.step = 1}); }).says("step 1 is below step 2"));
  run.save(trained(3), {.step = 3});
  sample::spill(index_of(4), index);
  REQUIRE(run.restore(state)->step == 4);
  CHECK(sample::failure_of([&] { run.save(trained(3), {.step = 3}); }).says("step 3 is below step 4"));
}

TEST_CASE("a store that cannot be listed does not stop the run, but no save is made that may be too early") {
  tests::gated_store store{.inner = store_with({9})};
  bool is_away = true;
  store.lists = [&] {
    if (is_away) cairn::fail(errc::io, {"the store is away"});
  };
  bool is_due = false;
  checkpointer run(store, {.when = when_set{&is_due}, .on_failure = keep});
  CHECK_NOTHROW(run.step(trained(3), {.step = 3}));
  CHECK(sample::failure_of([&] { run.save(trained(3), {.step = 3}); }).says("the store is away"));
  is_due = true;
  const auto outcome = run.step(trained(4), {.step = 4});
  CHECK(sample::failure_of([&] { std::ignore = outcome.save.get(); }).says("the store is away"));
  is_away = false;
  check_refused([&] { std::ignore = run.step(trained(5), {.step = 5}); }, 5, 9);
  CHECK(run.steps() == steps{9});
  auto saved = run.step(trained(10), {.step = 10});
  for (std::uint64_t step = 11; saved.skipped; ++step)
    saved = run.step(trained(step), {.step = step});  // after the delay
  CHECK(saved.save.get().bytes > 0);
}

TEST_CASE("another process has saved since this one has looked: its checkpoints count from the first save on") {
  for (const bool asynchronous : {true, false}) {
    const auto store = store_with({2, 5});
    checkpointer run(
        store,
        {.keep_last = 1, .when = cairn::policies::every_steps{1}, .asynchronous = asynchronous, .on_failure = keep});
    trainer state;
    REQUIRE(run.restore(state)->step == 5);
    CHECK_NOTHROW(run.step(trained(5), {.step = 5}));
    checkpointer(store).save(trained(9), {.step = 9});
    const auto outcome = run.step(trained(6), {.step = 6});
    check_refused([&] { std::ignore = outcome.save.get(); }, 6, 9);
    check_refused([&] { std::ignore = run.step(trained(7), {.step = 7}); }, 7, 9);
    CHECK(run.steps() == steps{2, 5, 9});
  }
}

TEST_CASE("on_older_step = replace: the first save removes what the run does not continue from") {
  for (const bool asynchronous : {true, false}) {
    const cairn::checkpointer_options options{.keep_last = 2,
                                              .when = cairn::policies::every_steps{1},
                                              .asynchronous = asynchronous,
                                              .on_older_step = cairn::when_older::replace};
    const auto store = store_with({1, 2, 5, 9});
    {
      checkpointer run(store, options);
      trainer state;
      REQUIRE(run.restore(state, {.step = 2}));
      CHECK(run.steps() == steps{1, 2, 5, 9});
      std::ignore = run.step(trained(3), {.step = 3});
      run.wait();
      CHECK(run.steps() == steps{2, 3});
      CHECK(checkpointer(store).restore(state)->step == 3);
    }
    {
      checkpointer run(store, options);  // from the beginning, without a restore
      std::ignore = run.step(trained(10), {.step = 1});
      run.wait();
      CHECK(run.steps() == steps{1});
    }
    {
      checkpointer run(store, options);  // back within a process
      for (std::uint64_t step = 2; step <= 6; ++step) {
        std::ignore = run.step(trained(step), {.step = step});
        run.wait();
      }
      CHECK(run.steps() == steps{5, 6});
      for (const std::uint64_t step : {3U, 4U}) {
        std::ignore = run.step(trained(step), {.step = step});
        run.wait();
      }
      CHECK(run.steps() == steps{3, 4});
    }
  }
}

TEST_CASE("on_older_step = replace: nothing is removed while no save is made, and chains stay whole") {
  const cairn::stores::memory store;
  const auto state = states(6);
  {
    checkpointer run(store, {.codecs = chain::mixed_rules()});
    for (const std::uint64_t step : {1U, 2U, 3U, 4U}) run.save(state[step], {.step = step});
  }
  checkpointer run(store, {.when = cairn::policies::every_steps{0},
                           .codecs = chain::mixed_rules(),
                           .on_older_step = cairn::when_older::replace});
  chain::state loaded;
  REQUIRE(run.restore(loaded, {.step = 2}));
  CHECK_NOTHROW(run.step(state[3], {.step = 3}));
  CHECK(run.steps() == steps{1, 2, 3, 4});
  CHECK(run.save(state[5], {.step = 3}).is_delta);
  CHECK(run.steps() == steps{1, 2, 3});
  chain::check_restores(store, checkpoint_name(3), state[5]);
}

TEST_CASE("the policy counts from the step before only where the run goes back") {
  const cairn::stores::memory store;
  checkpointer run(
      store,
      {.when = cairn::policies::every_steps{5}, .asynchronous = false, .on_older_step = cairn::when_older::replace});
  const auto is_saved = [&](std::uint64_t step) { return run.step(trained(step), {.step = step}).started; };
  for (std::uint64_t step = 1; step <= 10; ++step) CHECK(is_saved(step) == (step % 5 == 0));
  CHECK_FALSE(is_saved(10));
  CHECK_FALSE(is_saved(8));
  CHECK(is_saved(10));
}

TEST_CASE("a run that continues from an older checkpoint does so also if its first save is later than the newest") {
  trainer state;
  const auto store = store_with({1, 2, 5, 9});
  checkpointer run(store, {.on_older_step = cairn::when_older::replace});
  REQUIRE(run.restore(state, {.step = 2}));
  run.save(trained(9), {.step = 9});
  CHECK(run.steps() == steps{1, 2, 9});
}

TEST_CASE("a checkpoint whose save failed after it was published is the run's own") {
  struct fails_late : cairn::stores::memory {
    using memory::memory;
    struct attempt_at final : cairn::stores::transaction {
      attempt_at(std::unique_ptr<cairn::stores::transaction> to, bool& fails) : inner(std::move(to)), late(fails) {}
      cairn::stores::sink& create(std::string_view file, std::uint64_t bytes) override {
        return inner->create(file, bytes);
      }
      void publish() override {
        inner->publish();
        if (std::exchange(late, false)) cairn::fail(errc::io, {"the disk has gone"});
      }
      std::unique_ptr<cairn::stores::transaction> inner;
      bool& late;
    };
    std::unique_ptr<cairn::stores::transaction> begin(std::string_view name) {
      return std::make_unique<attempt_at>(memory::begin(name), *late);
    }
    std::shared_ptr<bool> late = std::make_shared<bool>(false);
  };
  for (const auto how : {cairn::when_older::refuse, cairn::when_older::replace}) {
    const fails_late store;
    checkpointer run(store, {.on_older_step = how});
    run.save(trained(1), {.step = 1});
    *store.late = true;
    CHECK(sample::failure_of([&] { run.save(trained(2), {.step = 2}); }).code == errc::io);
    run.save(trained(3), {.step = 3});
    CHECK(run.steps() == steps{1, 2, 3});
  }
}

TEST_CASE("a save that fails makes no checkpoint of another run the run's own") {
  tests::gated_store gated;
  gated.inner = store_with({1, 2, 3});
  bool is_full = true;
  gated.refuses = [&](std::string_view) { return is_full; };
  trainer state;
  {
    // Nothing is restored, and the first save is of the step of the other run's newest checkpoint, which stays.
    checkpointer run(gated, {.on_older_step = cairn::when_older::replace});
    CHECK(sample::failure_of([&] { run.save(trained(30), {.step = 3}); }).code == errc::io);
    CHECK(checkpointer(gated.inner).restore(state)->step == 3);
    CHECK(state == trained(3));
    is_full = false;
    run.save(trained(20), {.step = 2});
    CHECK(run.steps() == steps{2});
  }
  gated.inner = store_with({1, 2, 3});
  is_full = true;
  checkpointer run(gated, {.on_older_step = cairn::when_older::replace});
  REQUIRE(run.restore(state, {.step = 2}));
  CHECK(sample::failure_of([&] { run.save(trained(30), {.step = 3}); }).code == errc::io);
  is_full = false;
  run.save(trained(40), {.step = 4});
  CHECK(run.steps() == steps{1, 2, 4});
}

TEST_CASE("a save that fails after it has published makes a checkpoint of this run, also where it removed later ones") {
  const cairn::any_store inner = store_with({1, 2, 9});
  bool fails = true;
  const auto fail_once = [&] {
    if (!fails || inner.list().back() != checkpoint_name(3)) return;
    fails = false;
    cairn::fail(errc::io, {"the disk has gone"});
  };
  checkpointer run(hooked_store{inner, {.after_write = fail_once}}, {.on_older_step = cairn::when_older::replace});
  trainer state;
  REQUIRE(run.restore(state, {.step = 2}));
  CHECK(sample::failure_of([&] { run.save(trained(3), {.step = 3}); }).code == errc::io);
  run.save(trained(4), {.step = 4});
  CHECK(run.steps() == steps{1, 2, 3, 4});
}

TEST_CASE("names of branches, which development versions wrote, are names of others") {
  const auto store = store_with({1, 2, 5});
  const std::string name = "step-000000003.branch-1-from-2";
  cairn::save(store, name, trained(3), {.step = 3});
  trainer state;
  checkpointer run(store, {.keep_last = 1, .on_older_step = cairn::when_older::replace});
  CHECK(run.restore(state)->step == 5);
  CHECK(run.steps() == steps{1, 2, 5});
  CHECK(sample::failure_of([&] { run.restore(state, {.step = 3}); }).code == errc::not_found);
  run.save(trained(6), {.step = 6});
  CHECK(run.remove_after(0) == 1);
  CHECK(store.list() == std::vector<std::string>{name});
  CHECK(cairn::load(store, name, state).step == 3);
}

TEST_CASE("remove_after removes later checkpoints, newest first, and the run continues from the step") {
  const auto store = store_with({1, 2, 5, 7, 9});
  std::vector<cairn::event> pruned;
  checkpointer run(store, {.keep_last = 2,
                           .pinned = {7},
                           .when = cairn::policies::every_steps{1},
                           .on_event = [&](const cairn::event& what) {
                             if (what.what == kind::pruned) pruned.push_back(what);
                           }});
  const auto saved = cairn::list_checkpoints(store);
  trainer state;
  REQUIRE(run.restore(state, {.step = 2}));
  CHECK(run.remove_after(2) == 3);
  CHECK(run.steps() == steps{1, 2});
  CHECK(run.stats().pruned == 3);
  REQUIRE(pruned.size() == 3);
  CHECK(pruned[0].step == 9);
  CHECK(pruned[1].step == 7);
  CHECK(pruned[2].step == 5);
  CHECK(pruned[2].checkpoint == "memory/" + checkpoint_name(5));
  CHECK(pruned[2].bytes == saved[2].bytes);
  CHECK(pruned[2].message == "step-000000005 is later than step 2");

  CHECK(run.step(trained(30), {.step = 3}).started);
  run.wait();
  CHECK(run.steps() == steps{2, 3});
  CHECK(checkpointer(store).restore(state)->step == 3);  // as after a crash
  CHECK(state == trained(30));
  CHECK(run.remove_after(3) == 0);
  CHECK(run.remove_after(0) == 2);
  CHECK_FALSE(run.restore(state));
  CHECK(run.step(trained(1), {.step = 1}).started);
}

TEST_CASE("remove_after within a process: the policy counts from that step, also without a restore") {
  const cairn::stores::memory store;
  checkpointer run(store, {.when = cairn::policies::every_steps{10}, .asynchronous = false});
  for (std::uint64_t step = 1; step <= 30; ++step) std::ignore = run.step(trained(step), {.step = step});
  CHECK(run.remove_after(10) == 2);
  for (std::uint64_t step = 11; step <= 20; ++step) std::ignore = run.step(trained(step), {.step = step});
  CHECK(run.steps() == steps{10, 20});
}

TEST_CASE("remove_after waits for the running save, and throws its error first") {
  tests::gated_store store;
  bool is_full = false;
  store.refuses = [&](std::string_view) { return is_full; };
  checkpointer run(store, {.when = cairn::policies::every_steps{1}, .retry_for = {}});
  std::ignore = run.step(trained(1), {.step = 1});
  run.wait();
  std::ignore = run.step(trained(2), {.step = 2});
  CHECK(run.remove_after(1) == 1);
  CHECK(run.steps() == steps{1});
  is_full = true;
  std::ignore = run.step(trained(2), {.step = 2});
  CHECK(sample::failure_of([&] { run.remove_after(0); }).says("the disk is full"));
  CHECK(run.steps() == steps{1});
}

TEST_CASE_METHOD(in_scratch, "remove_after removes damaged checkpoints too") {
  const auto root = scratch.path("run");
  checkpointer run(root);
  for (const std::uint64_t step : {1U, 2U, 3U}) run.save(trained(step), {.step = step});
  for (const std::uint64_t step : {2U, 3U}) sample::spill(root + "/" + checkpoint_name(step) + "/index.json", "{");
  trainer state;
  REQUIRE(run.restore(state)->step == 1);
  CHECK(run.remove_after(1) == 2);
  CHECK(run.steps() == steps{1});
}

TEST_CASE("remove_after after an error: the checkpoints that are left can be restored") {
  tests::gated_store store;
  bool sticks = true;
  store.keeps = [&](std::string_view name) { return sticks && name == checkpoint_name(3); };
  checkpointer run(store, {.codecs = chain::mixed_rules()});
  const auto state = states(5);
  for (const std::uint64_t step : {1U, 2U, 3U, 4U}) CHECK(run.save(state[step], {.step = step}).is_delta == (step > 1));
  const auto failure = sample::failure_of([&] { run.remove_after(1); });
  CHECK(failure.code == errc::io);
  CHECK(failure.says("cannot delete step-000000003"));
  CHECK(run.steps() == steps{1, 2, 3});
  chain::state loaded;
  CHECK(checkpointer(store).restore(loaded)->step == 3);
  CHECK(sample::failure_of([&] { run.save(state[2], {.step = 2}); }).code == errc::stale);
  sticks = false;
  CHECK(run.remove_after(1) == 2);
  CHECK_FALSE(run.save(state[4], {.step = 20}).is_delta);  // its parent is gone
  CHECK(run.save(state[5], {.step = 21}).is_delta);
  CHECK(checkpointer(store).restore(loaded)->links == 2);
  chain::check_restores(store, checkpoint_name(21), state[5]);
}

TEST_CASE("remove_after keeps the chains of the other checkpoints") {
  const cairn::stores::memory store;
  checkpointer run(store, {.codecs = chain::mixed_rules()});
  const auto state = states(4);
  for (const std::uint64_t step : {1U, 2U, 3U}) run.save(state[step], {.step = step});
  chain::state loaded;
  REQUIRE(run.restore(loaded, {.step = 2})->links == 2);
  CHECK(run.remove_after(2) == 1);
  CHECK(run.save(state[4], {.step = 3}).is_delta);
  CHECK(checkpointer(store).restore(loaded)->links == 3);
  chain::check_restores(store, checkpoint_name(3), state[4]);
}

TEST_CASE("remove_after: another process saves there") {
  const auto store = store_with({1, 2});
  checkpointer owner(store);
  owner.save(trained(2), {.step = 2});
  const tests::recording_policy policy;
  checkpointer other(store, {.when = policy});
  trainer state;
  REQUIRE(other.restore(state)->step == 2);
  CHECK(sample::failure_of([&] { other.remove_after(1); }).code == errc::busy);
  CHECK(other.steps() == steps{1, 2});
  std::ignore = other.step(state, {.step = 3});
  CHECK(policy.log->asked.back().saved_step == 2);  // nothing was removed
}

TEST_CASE("remove_after, then a save that fails: the policy still counts from that step") {
  tests::gated_store store;
  bool is_full = false;
  store.refuses = [&](std::string_view) { return is_full; };
  checkpointer run(store, {.when = cairn::policies::every_steps{10}, .on_failure = keep});
  const auto state = trained(1);
  run.save(state, {.step = 10});
  run.save(state, {.step = 1'000'000'000});
  CHECK(run.remove_after(10) == 1);
  CHECK(run.stats().pruned == 1);
  is_full = true;
  CHECK(run.step(state, {.step = 20}).started);
  run.wait();
  is_full = false;
  bool is_saved = false;
  for (std::uint64_t step = 21; step < 100'000'000 && !is_saved; ++step)
    is_saved = run.step(state, {.step = step}).started;  // after the delay
  CHECK(is_saved);
}

TEST_CASE("retention reads the index of a checkpoint that another process has replaced") {
  const cairn::stores::memory store;
  const auto state = states(3);
  checkpointer(store, {.codecs = chain::mixed_rules()}).save(state[0], {.step = 90});
  checkpointer(store, {.codecs = chain::mixed_rules()}).save(state[1], {.step = 100});
  checkpointer run(store, {.keep_last = 1, .codecs = chain::mixed_rules()});
  CHECK(run.retention_plan().size() == 1);  // 100 is whole
  {
    checkpointer other(store, {.codecs = chain::mixed_rules()});
    chain::state loaded;
    REQUIRE(other.restore(loaded, {.step = 90}));
    CHECK(other.remove_after(90) == 1);
    CHECK(other.save(state[2], {.step = 100}).is_delta);
  }
  chain::state loaded;
  REQUIRE(run.restore(loaded)->step == 100);
  CHECK(run.save(state[3], {.step = 110}).is_delta);
  CHECK(run.steps() == steps{90, 100, 110});
  chain::check_restores(store, checkpoint_name(110), state[3]);
}

TEST_CASE_METHOD(in_scratch, "while there is a checkpoint of a newer format version, nothing is removed") {
  const auto root = scratch.path("run");
  const auto state = states(4);
  {
    checkpointer earlier(root, {.codecs = chain::mixed_rules()});
    for (const std::uint64_t step : {1U, 2U, 3U}) earlier.save(state[step], {.step = step});
  }
  const auto index = root + "/" + checkpoint_name(2) + "/index.json";
  sample::spill(index, hostile::of_newer_version(sample::slurp(index)));
  std::vector<cairn::event> events;
  checkpointer run(root, {.keep_last = 1, .on_event = [&](const cairn::event& what) { events.push_back(what); }});
  run.save(state[4], {.step = 4});
  CHECK(run.steps() == steps{1, 2, 3, 4});
  CHECK(events.back().what == kind::failed);
  CHECK(sample::failure_of([&] { std::ignore = run.retention_plan(); }).code == errc::unsupported);
  CHECK(sample::failure_of([&] { run.remove_after(0); }).code == errc::unsupported);
}

struct growing {
  std::vector<float> history;
  std::vector<bool> seen;
};

growing after(std::uint64_t step) { return {std::vector<float>(step, 1), std::vector<bool>(step, true)}; }

}  // namespace

TEST_CASE("a run whose arrays grow goes back to its earlier checkpoints; one that has not begun refuses other sizes") {
  const cairn::stores::memory store;
  std::vector<std::string> messages;
  checkpointer run(store, {.on_event = [&](const cairn::event& what) {
                     if (what.what == kind::restored) messages.push_back(what.message);
                   }});
  for (const std::uint64_t step : {2U, 5U}) run.save(after(step), {.step = step, .loss = static_cast<double>(step)});
  auto state = after(5);
  CHECK(run.restore(state, {.step = 2})->resized == std::vector<std::string>{"history", "seen"});
  CHECK(state.history.size() == 2);
  CHECK(run.restore(state)->step == 5);
  CHECK(state.seen.size() == 5);
  CHECK(run.restore_best(state)->step == 2);
  CHECK(messages == std::vector<std::string>(3, "with another size: history, seen"));

  checkpointer next(store);
  const auto failure = sample::failure_of([&] { std::ignore = next.restore(state, {.step = 5}); });
  CHECK(failure.code == errc::mismatch);
  CHECK(failure.says("history has shape [5] in the checkpoint and [2] in the state"));
  state = {};
  CHECK(next.restore(state, {.step = 5})->resized.empty());
  CHECK(next.restore(state, {.step = 2})->resized.size() == 2);
  CHECK(state.history.size() == 2);
}
