// SPDX-License-Identifier: MIT
#include "cairn/run/session.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "cairn/checkpointer.hpp"
#include "cairn/merge.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/store/stored_checkpoint.hpp"
#include "cairn/chain/load.hpp"
#include "catch.hpp"
#include "chain.hpp"
#include "gate.hpp"
#include "recording_policy.hpp"
#include "too_deep.hpp"
#include "trainer.hpp"
#include "save_as.hpp"

using cairn::checkpointer;
using cairn::errc;
using cairn::detail::checkpoint_name;
using tests::trained;
using tests::trainer;
using kind = cairn::event::kind;
using every_step = cairn::policies::every_steps;

namespace {

using names = std::vector<std::string>;

names names_of(const std::vector<std::uint64_t>& steps) {
  names all;
  for (const auto step : steps) all.push_back(checkpoint_name(step));
  return all;
}

/// All events but progress, from the trainer's thread and the background thread.
struct heard {
  std::vector<cairn::event> all;  // to be read while no save is running
  mutable std::mutex mutex;

  void operator()(const cairn::event& e) {
    const std::scoped_lock lock(mutex);
    if (e.what != kind::progress) all.push_back(e);
  }
  [[nodiscard]] names lines() const {
    const std::scoped_lock lock(mutex);
    names text;
    for (const auto& e : all) text.push_back(std::string(cairn::name(e.what)) + " " + std::to_string(e.step));
    return text;
  }
  [[nodiscard]] std::size_t count(kind what) const {
    const std::scoped_lock lock(mutex);
    return static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [&](const auto& e) { return e.what == what; }));
  }
  /// Throws std::out_of_range if there was none.
  [[nodiscard]] cairn::event first(kind what) const {
    const std::scoped_lock lock(mutex);
    return all.at(static_cast<std::size_t>(
        std::find_if(all.begin(), all.end(), [&](const auto& e) { return e.what == what; }) - all.begin()));
  }
};

trainer restored(const cairn::any_store& store, const std::string& name) {
  trainer state;
  cairn::detail::load_from(cairn::detail::chain_reader(store, name), cairn::refer(state), {});
  return state;
}

/// So slow that a running save does not end until it is cancelled or hurried.
constexpr double next_to_nothing = 1e-6;

}  // namespace

TEST_CASE("a step returns while the save is running, and the state may change at once") {
  tests::gated_store gated;
  heard events;
  checkpointer run(gated, {.when = every_step{1}, .on_event = std::ref(events)});
  gated.entrance->close();
  auto state = trained(1, 100'000);
  const auto outcome = run.step(state, {.step = 1, .loss = 0.5});
  CHECK(outcome.started);
  CHECK_FALSE(outcome.skipped);
  CHECK(outcome.stall_seconds > 0);
  CHECK(gated.list().empty());
  state = trained(2, 50);  // other contents, other sizes
  gated.entrance->open();
  run.wait();
  CHECK(gated.list() == names_of({1}));
  CHECK(restored(gated.inner, checkpoint_name(1)) == trained(1, 100'000));
  CHECK(events.lines() == names{"started 1", "copied 1", "encoded 1", "written 1", "published 1"});
  CHECK(events.all[1].bytes == events.all[0].total);
  CHECK(events.all[2].total == events.all[0].total);
  CHECK(events.all[4].seconds >= events.all[3].seconds);
  const auto stats = run.stats();
  CHECK(stats.saves == 1);
  CHECK(stats.state_bytes == events.all[0].total);
  CHECK(stats.bytes == events.all[4].bytes);
  CHECK(stats.ratio() > 0);
  CHECK(stats.stall_seconds == outcome.stall_seconds);
  CHECK(stats.background_seconds > 0);
}

TEST_CASE(
    "busy, skip: the running save is finished first, one event reports that, and a save is due as soon as it is done") {
  tests::gated_store gated;
  heard events;
  checkpointer run(gated, {.when = every_step{1}, .on_event = std::ref(events)});
  gated.entrance->close();
  CHECK(run.step(trained(1), {.step = 1}).started);
  for (std::uint64_t step = 2; step <= 4; ++step) {
    const auto outcome = run.step(trained(step), {.step = step});
    CHECK(outcome.skipped);
    CHECK_FALSE(outcome.started);
  }
  CHECK(events.count(kind::skipped) == 1);
  const auto skip = events.first(kind::skipped);  // the running save may have reported more since
  CHECK(skip.step == 2);
  CHECK(skip.message == "the save or merge of step 1 is still running");
  CHECK(run.stats().skipped == 1);
  gated.entrance->open();
  run.wait();
  CHECK(run.step(trained(5), {.step = 5}).started);
  run.wait();
  CHECK(gated.list() == names_of({1, 5}));
}

TEST_CASE("busy, wait: nothing is skipped") {
  tests::gated_store gated;
  checkpointer run(gated, {.when = every_step{1}, .on_busy = cairn::when_busy::wait});
  gated.entrance->close();
  CHECK(run.step(trained(1), {.step = 1}).started);
  std::thread opens([&] { gated.entrance->open(); });
  for (std::uint64_t step = 2; step <= 5; ++step) CHECK(run.step(trained(step), {.step = step}).started);
  opens.join();
  run.wait();
  CHECK(gated.list() == names_of({1, 2, 3, 4, 5}));
}

TEST_CASE("busy, replace: the running save is cancelled, unless it has replaced another one itself") {
  const cairn::stores::memory store;
  heard events;
  {
    checkpointer run(store, {.when = every_step{1},
                             .on_event = std::ref(events),
                             .on_busy = cairn::when_busy::replace,
                             .on_destruction = cairn::when_destroyed::cancel,
                             .max_bytes_per_second = next_to_nothing});
    CHECK(run.step(trained(1), {.step = 1}).started);
    CHECK(run.step(trained(2), {.step = 2}).started);
    CHECK(events.count(kind::skipped) == 1);  // step 1
    CHECK(run.step(trained(3), {.step = 3}).skipped);
    CHECK(events.count(kind::skipped) == 2);  // step 3
    CHECK(run.stats().skipped == 2);
    CHECK(run.stats().saves == 0);
  }
  CHECK(store.list().empty());
  CHECK(events.count(kind::published) == 0);
  CHECK(events.count(kind::failed) == 0);
}

TEST_CASE("destroyed: the running save is finished, or nothing is left of it") {
  for (const bool finish : {true, false}) {
    const sample::scratch scratch;
    {
      checkpointer run(scratch.path("run"),
                       {.when = every_step{1},
                        .on_destruction = finish ? cairn::when_destroyed::finish : cairn::when_destroyed::cancel,
                        .max_bytes_per_second = finish ? std::nullopt : std::optional(next_to_nothing)});
      CHECK(run.step(trained(1, 1000), {.step = 1}).started);
    }
    CHECK(cairn::stores::directory(scratch.path("run")).list() == (finish ? names_of({1}) : names{}));
    trainer state;
    CHECK(checkpointer(scratch.path("run")).restore(state).has_value() == finish);
  }
}

TEST_CASE("an error in the background is thrown by the next call, once, and the save is due again") {
  tests::gated_store gated;
  bool is_full = true;
  gated.refuses = [&](std::string_view) { return std::exchange(is_full, false); };
  heard events;
  checkpointer run(gated, {.when = every_step{10}, .on_event = std::ref(events), .retry_for = {}});
  for (std::uint64_t step = 1; step < 10; ++step) CHECK_FALSE(run.step(trained(step), {.step = step}).started);
  gated.entrance->close();
  CHECK(run.step(trained(10), {.step = 10}).started);
  gated.entrance->open();
  SECTION("by wait") {
    const auto failure = sample::failure_of([&] { run.wait(); });
    CHECK(failure.code == errc::io);
    CHECK(failure.says("the disk is full at step-000000010"));
  }
  SECTION("by save, which then does nothing else") {
    CHECK(sample::failure_of([&] { run.save(trained(11), {.step = 11}); }).says("the disk is full at step-000000010"));
    CHECK(gated.list().empty());
  }
  SECTION("by restore") {
    trainer state;
    CHECK(sample::failure_of([&] { run.restore(state); }).says("the disk is full at step-000000010"));
  }
  CHECK_NOTHROW(run.wait());
  CHECK(events.count(kind::failed) == 1);
  CHECK(run.stats().failed == 1);
  CHECK(run.step(trained(11), {.step = 11}).started);  // and not at 20 only
  run.wait();
  CHECK(gated.list() == names_of({11}));
  CHECK(restored(gated.inner, checkpoint_name(11)) == trained(11));
}

TEST_CASE("an error of the save that a step waits for is thrown by that step") {
  tests::gated_store gated;
  gated.refuses = [](std::string_view name) { return name == checkpoint_name(1); };
  checkpointer run(gated, {.when = every_step{1}, .on_busy = cairn::when_busy::wait, .retry_for = {}});
  CHECK(run.step(trained(1), {.step = 1}).started);
  CHECK(sample::failure_of([&] {
          std::ignore = run.step(trained(2), {.step = 2});
        }).says("the disk is full at step-000000001"));
  CHECK(run.step(trained(3), {.step = 3}).started);
  run.wait();
  CHECK(gated.list() == names_of({3}));
}

TEST_CASE("what the standard library throws in the background is a cairn::error too") {
  struct broken {
    [[nodiscard]] static std::string name() { return "broken"; }
    [[nodiscard]] static bool uses_parent() { return false; }
    [[nodiscard]] static std::size_t bound(cairn::dtype, std::size_t bytes) { return bytes; }
    [[nodiscard]] static cairn::encode_result encode(const cairn::encode_request&, std::span<std::byte>) {
      throw std::runtime_error("no such luck");
    }
    static void decode(const cairn::decode_request&) {}
  };
  checkpointer run(cairn::stores::memory(), {.when = every_step{1}, .codecs = {{"*", broken{}}}});
  std::ignore = run.step(std::vector<float>(1000), {.step = 1});
  const auto failure = sample::failure_of([&] { run.wait(); });
  CHECK(failure.code == errc::invalid);
  CHECK(failure.says("memory/step-000000001 cannot be saved: no such luck"));
}

TEST_CASE("a state that cannot be saved is an error of the step itself, and the next one is saved") {
  const auto deep = tests::too_deep();
  heard events;
  checkpointer run(cairn::stores::memory(), {.when = every_step{1}, .on_event = std::ref(events)});
  CHECK(sample::failure_of([&] { std::ignore = run.step(deep, {.step = 1}); }).code == errc::invalid);
  CHECK(run.stats().failed == 1);
  CHECK(events.lines() == names{"failed 1"});
  CHECK_NOTHROW(run.wait());
  CHECK(run.step(trained(2), {.step = 2}).started);
  run.wait();
  CHECK(run.stats().saves == 1);

  SECTION("with keep_training it is an event, counted, and in the handle") {
    for (const bool asynchronous : {true, false}) {
      heard heard_here;
      checkpointer keeps(cairn::stores::memory(), {.when = every_step{1},
                                                   .on_event = std::ref(heard_here),
                                                   .asynchronous = asynchronous,
                                                   .on_failure = cairn::when_failed::keep_training});
      const auto outcome = keeps.step(deep, {.step = 1});
      CHECK(sample::failure_of([&] { static_cast<void>(outcome.save.get()); }).code == errc::invalid);
      CHECK(heard_here.lines() == names{"failed 1"});
      CHECK(keeps.stats().failed == 1);
    }
  }
}

TEST_CASE("a state larger than the copies may be is saved in parts, and may change when the step returns") {
  tests::random_states states(3);
  heard events;
  const cairn::stores::memory store;
  checkpointer run(store,
                   {.when = every_step{1}, .on_event = std::ref(events), .max_staging_bytes = std::uint64_t{1} << 20U});
  for (std::uint64_t step = 1; step <= 4; ++step) {
    auto state = states.next();
    state.examples.resize(100'000);
    for (std::size_t i = 0; i < state.examples.size(); ++i) state.examples[i].score = static_cast<float>(i * step);
    state.table.resize({300, 1000});
    for (auto& value : state.table.values) value = static_cast<float>(step);
    tests::everything copy;
    {
      cairn::any_store other = cairn::stores::memory();
      tests::save_as(other, "c", state);
      cairn::detail::load_from(cairn::detail::chain_reader(other, "c"), cairn::refer(copy), {});
    }
    events.all.clear();
    CHECK(run.step(state, {.step = step}).started);
    state = {};
    run.wait();
    CHECK(events.lines() == names{"started " + std::to_string(step), "staged in parts " + std::to_string(step),
                                  "copied " + std::to_string(step), "encoded " + std::to_string(step),
                                  "written " + std::to_string(step), "published " + std::to_string(step)});
    CHECK(events.all[1].message.find(" parts") != std::string::npos);
    const auto opened = cairn::detail::open_checkpoint(store, checkpoint_name(step));
    CHECK(opened.shards.size() > 3);
    tests::everything back;
    cairn::detail::load_from(cairn::detail::chain_reader(store, checkpoint_name(step)), cairn::refer(back), {});
    CHECK(tests::same(copy, back));
  }
}

TEST_CASE("in parts or at once, chains of deltas restore what their writer tracked, and merge") {
  for (const bool in_parts : {true, false}) {
    INFO(in_parts);
    auto store = cairn::any_store(cairn::stores::memory());
    const std::uint64_t budget = in_parts ? std::uint64_t{1} << 20U : std::numeric_limits<std::uint64_t>::max();
    std::size_t merged = 0;
    checkpointer run(store, {.keep_last = 2,
                             .when = every_step{1},
                             .codecs = chain::mixed_rules(),
                             .chain = {.anchor_every = 1000, .merge = cairn::merging{.every = 3}},
                             .on_event = [&](const cairn::event& e) { merged += e.what == kind::merged; },
                             .on_busy = cairn::when_busy::wait,
                             .max_staging_bytes = budget});
    std::mt19937 random(8);
    auto state = chain::start(random, 150'000);
    for (std::uint64_t step = 1; step <= 7; ++step) {
      chain::train(state, random);
      const auto real = chain::bits_of(state);
      CHECK(run.step(state, {.step = step}).started);
      const auto kept = std::exchange(state, {});
      run.wait();
      state = kept;
      const auto bits = chain::restored(store, checkpoint_name(step));
      CHECK(bits.at("adam.v") == real.at("adam.v"));
      CHECK(bits.at("adam.m") == real.at("adam.m"));
      CHECK(bits.at("step") == real.at("step"));
      CHECK((bits.at("net.weight") == real.at("net.weight")) == (step == 1));
      const cairn::detail::chain_reader reader(store, checkpoint_name(step));
      CHECK(reader.newest().index.parent.has_value() == (step > 1));
    }
    CHECK(merged == 2);
    CHECK(run.stats().merged == 2);
    CHECK(run.stats().pruned > 0);
  }
}

TEST_CASE("a save in parts that fails half-way does not stop the trainer; the next call throws the error") {
  tests::gated_store gated;
  int begun = 0;
  gated.refuses = [&](std::string_view) { return ++begun == 1; };
  checkpointer run(gated, {.when = every_step{1}, .retry_for = {}, .max_staging_bytes = std::uint64_t{1} << 20U});
  const auto state = trained(1, 1'000'000);
  CHECK(run.step(state, {.step = 1}).started);
  CHECK(sample::failure_of([&] { run.wait(); }).says("the disk is full"));
  CHECK(run.step(state, {.step = 2}).started);
  run.wait();
  CHECK(restored(gated.inner, checkpoint_name(2)) == state);
}

TEST_CASE("options that contradict themselves are refused") {
  const auto failure = [](cairn::checkpointer_options options) {
    return sample::failure_of([&] { checkpointer(cairn::stores::memory(), std::move(options)); });
  };
  CHECK(failure({.max_staging_bytes = (1U << 20U) - 1}).says("max_staging_bytes is 1048575, below 1 MiB"));
  CHECK(failure({.max_bytes_per_second = -1}).says("max_bytes_per_second is -1"));
  CHECK(failure({.max_bytes_per_second = std::numeric_limits<double>::quiet_NaN()}).code == errc::invalid);
  CHECK(failure({.max_bytes_per_second = 0}).code == errc::invalid);
  CHECK(failure({.chain = {.anchor_every = 0}}).says("std::nullopt only the first"));
  CHECK(failure({.chain = {.merge = cairn::merging{.every = 1}}}).says("chain.merge.every is below 2"));
  CHECK(failure({.hang_timeout = std::chrono::seconds(0)}).says("hang_timeout is not above 0"));
  CHECK(failure({.keep_last = 0}).says("keep_last is 0"));
  CHECK(failure({.keep_best = cairn::keep_best_rule{.count = 0}}).says("keep_best.count is 0"));
  CHECK(failure({.keep_every = 0}).says("keep_every is 0"));
  const auto other = [](auto last) { return static_cast<decltype(last)>(static_cast<int>(last) + 1); };
  CHECK(failure({.on_busy = other(cairn::when_busy::replace)}).says("on_busy is 3"));
  CHECK(failure({.on_destruction = other(cairn::when_destroyed::cancel)}).says("on_destruction is 2"));
  CHECK(failure({.on_failure = other(cairn::when_failed::keep_training)}).says("on_failure is 2"));
  CHECK(failure({.on_older_step = other(cairn::when_older::replace)}).says("on_older_step is 2"));
  CHECK(failure({.shards = SIZE_MAX}).says("shards is " + std::to_string(SIZE_MAX)));
  for (const double deadline : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()})
    CHECK(failure({.preempt = {SIGUSR1}, .preempt_deadline = std::chrono::duration<double>(deadline)})
              .says("preempt_deadline is not above 0"));
}

TEST_CASE("options that would do nothing are refused") {
  const auto failure = [](cairn::checkpointer_options options) {
    return sample::failure_of([&] { checkpointer(cairn::stores::memory(), std::move(options)); });
  };
  CHECK(failure({.durable = false}).says("durable is false"));
  CHECK(failure({.chain = {.anchor_every = std::nullopt, .merge = cairn::merging{.every = 2}}})
            .says("grows without bound"));
  CHECK(failure({.cores = {1024}}).says("cores has 1024"));
  CHECK(failure({.cores = {0}, .asynchronous = false}).says("cores is of use only"));
  CHECK(failure({.retry_for = std::chrono::seconds(-1)}).says("retry_for is below 0"));
  CHECK(failure({.preempt_deadline = std::chrono::seconds(60)}).says("preempt_deadline is given without preempt"));
  const auto refused = [&](std::string_view option, cairn::checkpointer_options options) {
    CHECK(failure(options).sentence.empty());
    options.asynchronous = false;
    const auto synchronous = failure(options);
    CHECK(synchronous.code == errc::invalid);
    CHECK(synchronous.says(std::string(option) + " is of use only with asynchronous = true"));
    return options;
  };
  refused("on_busy", {.on_busy = cairn::when_busy::wait});
  refused("copy_threads", {.copy_threads = 1});
  refused("max_staging_bytes", {.max_staging_bytes = std::uint64_t{1} << 20U});
  refused("max_bytes_per_second", {.max_bytes_per_second = 1e6});
  // Merges run in the background of synchronous saves too.
  for (auto& options : {refused("background_threads", {.background_threads = 2}),
                        refused("on_destruction", {.on_destruction = cairn::when_destroyed::cancel}),
                        refused("hang_timeout", {.hang_timeout = std::chrono::seconds(1)})}) {
    auto merging = options;
    merging.chain.merge = cairn::merging{.every = 2};
    CHECK(failure(merging).sentence.empty());
  }
}

TEST_CASE(
    "save writes again what a step has saved where the policy remembers something: the checkpoint says that the run "
    "has ended") {
  struct remembering {
    static cairn::decision should_save(const cairn::moment& /*now*/) { return true; }
    [[nodiscard]] static cairn::policy_memory remember() { return {{"kept", {1}}}; }
    static void recall(const cairn::policy_memory& /*kept*/) {}
  };
  const cairn::stores::memory store;
  const auto notes = [&] { return cairn::detail::read_index(*store.open(checkpoint_name(1))).info.notes; };
  const auto state = trained(1);
  for (const bool asynchronous : {true, false}) {
    checkpointer run(store, {.when = remembering{}, .asynchronous = asynchronous});
    CHECK(run.step(state, {.step = 1}).started);
    run.wait();
    CHECK(notes().at("ended") == std::vector<double>{0});
    run.save(state, {.step = 1});
    CHECK(run.stats().saves == 2);
    CHECK(notes().at("ended") == std::vector<double>{1});
    CHECK(notes().at("kept") == std::vector<double>{1});
  }
}

TEST_CASE("save writes after a restore, and where the metadata is another one") {
  const cairn::stores::memory store;
  auto state = trained(1);
  checkpointer(store).save(state, {.step = 1});
  checkpointer run(store, {.metadata = {{"host", "b"}}});
  REQUIRE(run.restore(state));
  run.save(state, {.step = 1});
  CHECK(run.stats().saves == 1);
  CHECK(cairn::detail::read_index(*store.open(checkpoint_name(1))).info.metadata.at("host") == "b");
  CHECK(restored(store, checkpoint_name(1)) == state);
}

TEST_CASE("save of what the run has restored fails where another run has the store, and is counted once") {
  const cairn::stores::memory store;
  trainer state;
  checkpointer(store).save(trained(1), {.step = 1});
  std::size_t failures = 0;
  checkpointer run(store, {.on_event = [&](const cairn::event& what) { failures += what.what == kind::failed; }});
  REQUIRE(run.restore(state));
  checkpointer other(store);
  REQUIRE(other.restore(state));
  other.save(state, {.step = 1});
  CHECK(sample::failure_of([&] { run.save(state, {.step = 1}); }).code == errc::busy);
  CHECK(failures == 1);
  CHECK(run.stats().failed == 1);
}

TEST_CASE("deltas: a save of a step that is saved already writes it again, also after a merge") {
  cairn::any_store store = cairn::stores::memory();
  std::mt19937 random(1);
  auto state = chain::start(random);
  checkpointer run(
      store, {.when = every_step{1}, .codecs = chain::mixed_rules(), .chain = {.merge = cairn::merging{.every = 2}}});
  for (std::uint64_t step = 1; step <= 3; ++step) {
    chain::train(state, random);
    CHECK(run.step(state, {.step = step}).started);
    run.wait();
  }
  CHECK(run.stats().merged == 1);
  const auto before = chain::restored(store, checkpoint_name(3));
  run.save(state, {.step = 3});
  CHECK(run.stats().saves == 4);
  CHECK(store.list() == names_of({1, 2, 3}));
  CHECK(chain::restored(store, checkpoint_name(3)).size() == before.size());
}

TEST_CASE("a save in the background has a handle: done, wait, report") {
  tests::gated_store gated;
  gated.refuses = [](std::string_view name) { return name == checkpoint_name(2); };
  cairn::save_handle saved, failed, cancelled, none;
  {
    checkpointer run(gated, {.when = every_step{1},
                             .on_destruction = cairn::when_destroyed::cancel,
                             .on_failure = cairn::when_failed::keep_training});
    none = run.step(trained(0), {.step = 0}).save;
    CHECK_FALSE(none);
    CHECK(none.done());
    none.wait();
    CHECK(sample::failure_of([&] { static_cast<void>(none.get()); }).code == errc::invalid);
    gated.entrance->close();
    saved = run.step(trained(1), {.step = 1}).save;
    REQUIRE(saved);
    CHECK_FALSE(saved.done());
    gated.entrance->open();
    const auto report = saved.get();
    CHECK(report.path == "memory/step-000000001");
    CHECK(report.state_bytes > 0);
    CHECK(saved.done());
    run.wait();
    failed = run.step(trained(2), {.step = 2}).save;
    CHECK(sample::failure_of([&] { static_cast<void>(failed.get()); }).says("the disk is full at step-000000002"));
  }
  {
    checkpointer slow(gated, {.when = every_step{1},
                              .on_destruction = cairn::when_destroyed::cancel,
                              .max_bytes_per_second = next_to_nothing});
    cancelled = slow.step(trained(3), {.step = 3}).save;
  }
  CHECK(cancelled.done());  // handles outlive their checkpointer
  CHECK(sample::failure_of([&] { static_cast<void>(cancelled.get()); }).code == errc::cancelled);
  CHECK(gated.list() == names_of({1}));
}

TEST_CASE("on_failure = keep_training: a failed save is reported, and no call throws it") {
  for (const bool asynchronous : {true, false}) {
    tests::gated_store gated;
    gated.refuses = [](std::string_view name) { return name != checkpoint_name(4); };
    heard events;
    checkpointer run(gated, {.when = every_step{1},
                             .on_event = std::ref(events),
                             .asynchronous = asynchronous,
                             .on_failure = cairn::when_failed::keep_training});
    const auto start = [&](std::uint64_t step) {
      auto outcome = run.step(trained(step), {.step = step});
      while (outcome.skipped) outcome = run.step(trained(step), {.step = step});  // until it is time to retry
      CHECK(outcome.started);
      return outcome.save;
    };
    for (std::uint64_t step = 1; step <= 3; ++step) {
      const auto failed = start(step);
      CHECK(sample::failure_of([&] { static_cast<void>(failed.get()); }).code == errc::io);
      run.wait();
    }
    CHECK(events.count(kind::failed) == 3);
    CHECK(run.stats().failed == 3);
    CHECK(sample::failure_of([&] { run.save(trained(5), {.step = 5}); }).says("the disk is full"));  // its own error
    CHECK(start(4).get().bytes > 0);
    run.wait();
    CHECK(gated.list() == names_of({4}));
  }
}

TEST_CASE("a save that makes no progress is reported, once, by steps and by calls that wait") {
  for (const bool waits : {false, true}) {
    tests::gated_store gated;
    std::atomic<int> hangs{0};
    cairn::event last;
    checkpointer run(gated, {.when = every_step{1},
                             .on_event =
                                 [&](const cairn::event& e) {
                                   if (e.what != kind::hanging) return;
                                   last = e;
                                   if (++hangs == 1 && waits) gated.entrance->open();
                                 },
                             .hang_timeout = std::chrono::milliseconds(1)});
    gated.entrance->close();
    CHECK(run.step(trained(1), {.step = 1}).started);
    if (!waits) {
      std::uint64_t step = 2;
      while (hangs == 0) CHECK(run.step(1, {.step = step++}).skipped);
      for (int i = 0; i < 100; ++i) std::ignore = run.step(1, {.step = step++});
      gated.entrance->open();
    }
    run.wait();
    CHECK(hangs == 1);
    CHECK(last.step == 1);
    CHECK(last.seconds >= 1e-3);
  }
}

TEST_CASE("a save that makes no progress is reported while a stop or the destructor waits for it") {
  for (const double deadline : {3600.0, 1e-9, 0.0}) {  // 0: no stop
    INFO(deadline);
    tests::gated_store gated;
    std::atomic<int> hangs{0};
    {
      cairn::checkpointer_options options{.when = every_step{1},
                                          .on_event =
                                              [&](const cairn::event& e) {
                                                if (e.what != kind::hanging) return;
                                                ++hangs;
                                                gated.entrance->open();
                                              },
                                          .hang_timeout = std::chrono::milliseconds(1)};
      if (deadline > 0) {
        options.preempt = {SIGUSR1};
        options.preempt_deadline = std::chrono::duration<double>(deadline);
      }
      checkpointer run(gated, options);
      gated.entrance->close();
      CHECK(run.step(trained(1), {.step = 1}).started);
      gated.entrance->wait_for_arrival();
      if (deadline > 0) {
        std::raise(SIGUSR1);
        CHECK(run.step(trained(2), {.step = 2}).stop);
      }
    }
    CHECK(hangs == 1);
    if (deadline > 1) CHECK(gated.list() == names_of({1, 2}));  // the report comes while the save has time
    if (deadline == 0) CHECK(gated.list() == names_of({1}));
  }
}

TEST_CASE("a merge that makes no progress is reported, each time, and not before it began") {
  const auto trainer_thread = std::this_thread::get_id();
  tests::gated_store gated;
  tests::gate hold;
  gated.lists = [&] {
    if (std::this_thread::get_id() != trainer_thread) hold.pass();
  };
  std::vector<cairn::event> hangs;
  const cairn::detail::stopwatch watch;
  std::mt19937 random(3);
  auto state = chain::start(random);
  checkpointer run(gated, {.keep_last = 100,  // lists the checkpoints after each save and merge
                           .when = every_step{0},
                           .codecs = chain::mixed_rules(),
                           .chain = {.anchor_every = 1000, .merge = cairn::merging{.every = 2}},
                           .on_event =
                               [&](const cairn::event& e) {
                                 if (e.what == kind::hanging) hangs.push_back(e);
                               },
                           .asynchronous = false,
                           .hang_timeout = std::chrono::milliseconds(1)});
  std::uint64_t step = 0;
  for (const std::uint64_t saves : {3U, 2U}) {
    hold.close();
    for (std::uint64_t i = 0; i < saves; ++i) {
      chain::train(state, random);
      run.save(state, {.step = ++step});
    }
    const auto before = hangs.size();
    while (hangs.size() == before) std::ignore = run.step(state, {.step = step});
    CHECK(hangs.back().step == step);
    CHECK(hangs.back().seconds <= watch.seconds());
    hold.open();
    run.wait();
  }
  CHECK(hangs.size() == 2);
  CHECK(run.stats().merged == 2);
}

TEST_CASE("not asynchronous: a step returns when the checkpoint is published") {
  const cairn::stores::memory store;
  heard events;
  checkpointer run(store, {.when = every_step{2}, .on_event = std::ref(events), .asynchronous = false});
  for (std::uint64_t step = 1; step <= 5; ++step) {
    CHECK(run.step(trained(step), {.step = step}).started == (step % 2 == 0));
    CHECK(store.list().size() == step / 2);
  }
  CHECK(events.lines() == names{"started 2", "encoded 2", "written 2", "published 2", "started 4", "encoded 4",
                                "written 4", "published 4"});
  CHECK(run.stats().stall_seconds > 0);
  CHECK(run.stats().background_seconds == 0);
}

TEST_CASE("the number of threads does not change the bytes of saves in the background") {
  std::map<std::string, std::string> first;
  for (const unsigned threads : {1U, 2U, 4U})
    for (const bool asynchronous : {true, false}) {
      cairn::any_store store = cairn::stores::memory();
      cairn::checkpointer_options options{
          .when = every_step{1}, .threads = threads, .codecs = chain::mixed_rules(), .asynchronous = asynchronous};
      if (asynchronous) {
        options.on_busy = cairn::when_busy::wait;
        options.copy_threads = threads;
      }
      checkpointer run(store, options);
      std::mt19937 random(8);
      auto state = chain::start(random, 40'000);
      for (std::uint64_t step = 1; step <= 3; ++step) {
        chain::train(state, random);
        std::ignore = run.step(state, {.step = step});
      }
      run.wait();
      std::map<std::string, std::string> all;
      for (const auto& name : store.list())
        for (const auto& file : store.open(name)->files()) all[name + "/" + file] = sample::get(store, name, file);
      CHECK(all.size() == 6);
      if (first.empty()) first = all;
      CHECK(all == first);
    }
}

TEST_CASE("a signal: poll says so, the next step saves at once, tells to stop, and does so once") {
  const cairn::stores::memory store;
  heard events;
  checkpointer run(store, {.when = every_step{0}, .on_event = std::ref(events), .preempt = {SIGUSR1}});
  CHECK_FALSE(run.poll());
  CHECK_FALSE(run.step(trained(1), {.step = 1}).stop);
  std::raise(SIGUSR1);
  CHECK(run.poll());
  CHECK(store.list().empty());
  const auto outcome = run.step(trained(2), {.step = 2});
  CHECK(outcome.stop);
  CHECK(outcome.started);
  CHECK(store.list() == names_of({2}));
  CHECK(restored(store, checkpoint_name(2)) == trained(2));
  CHECK(events.lines() == names{"stopping 2", "started 2", "encoded 2", "written 2", "published 2"});
  CHECK(events.all[0].message.find("signal " + std::to_string(SIGUSR1)) == 0);
  CHECK(events.all[0].checkpoint == cairn::any_store(store).location());
  CHECK(events.all[0].seconds > 0);
  CHECK(events.all[0].seconds <= 30);
  const auto again = run.step(trained(2), {.step = 2});
  CHECK(again.stop);
  CHECK_FALSE(again.started);
  CHECK(run.poll());
  CHECK(events.count(kind::stopping) == 1);  // a second step does nothing more
}

TEST_CASE("the time limit: far away nothing happens; when it is reached, the step saves at once and tells to stop") {
  for (const bool asynchronous : {true, false}) {
    const cairn::stores::memory store;
    heard events;
    const auto now = std::chrono::system_clock::now();
    checkpointer early(store, {.when = every_step{0}, .until = now + std::chrono::hours(9000)});
    for (std::uint64_t step = 1; step <= 20; ++step) CHECK_FALSE(early.step(trained(step), {.step = step}).stop);
    CHECK(store.list().empty());
    checkpointer run(store, {.when = every_step{0},
                             .on_event = std::ref(events),
                             .asynchronous = asynchronous,
                             .until = now - std::chrono::seconds(1)});
    CHECK_FALSE(run.poll());
    const auto outcome = run.step(trained(2), {.step = 2});
    CHECK(outcome.stop);
    CHECK(outcome.started);
    CHECK(restored(store, checkpoint_name(2)) == trained(2));
    CHECK(events.lines() == names{"stopping 2", "started 2", "encoded 2", "written 2", "published 2"});
    CHECK(events.all[0].message == "the time limit");
    CHECK(events.all[0].seconds == 0);
    const auto again = run.step(trained(2), {.step = 2});
    CHECK(again.stop);
    CHECK_FALSE(again.started);
    CHECK(run.step(trained(3), {.step = 3}).stop);  // a trainer that does not leave its loop loses nothing
    CHECK(restored(store, checkpoint_name(3)) == trained(3));
  }
}

TEST_CASE("any time is a time limit: the first one is in the past, the last one in the future") {
  using time = std::chrono::system_clock::time_point;
  for (const auto until : {time::min(), time(), time::max()}) {
    checkpointer run(cairn::stores::memory(), {.when = every_step{0}, .until = until});
    CHECK(run.step(trained(1), {.step = 1}).stop == (until != time::max()));
  }
}

TEST_CASE("a run that ends at its time limit has not failed") {
  const cairn::stores::memory store;
  tests::recording_policy policy;
  const auto past = std::chrono::system_clock::now() - std::chrono::seconds(1);
  CHECK(checkpointer(store, {.when = policy, .until = past}).step(trained(4), {.step = 4}).stop);
  checkpointer next(store, {.when = policy});
  trainer state;
  REQUIRE(next.restore(state));
  REQUIRE(policy.log->restarted.size() == 1);
  CHECK_FALSE(policy.log->restarted[0].after_failure);
  CHECK(state == trained(4));
}

TEST_CASE("after a handle is done the next step is not busy, and throws what the handle threw") {
  for (int round = 0; round < 200; ++round) {
    checkpointer run(cairn::stores::memory(), {.keep_last = 1, .when = every_step{1}});
    for (std::uint64_t step = 1; step <= 3; ++step) {
      const auto outcome = run.step(trained(step), {.step = step});
      CHECK(outcome.started);
      CHECK(outcome.save.get().bytes > 0);
    }
    tests::gated_store broken;
    broken.refuses = [](std::string_view) { return true; };
    checkpointer failing(broken, {.when = every_step{1}, .retry_for = {}});
    const auto outcome = failing.step(trained(1), {.step = 1});
    CHECK(sample::failure_of([&] { std::ignore = outcome.save.get(); }).code == errc::io);
    CHECK(sample::failure_of([&] { std::ignore = failing.step(trained(2), {.step = 2}); }).code == errc::io);
  }
}

namespace {

/// A codec that throws what is no std::exception.
struct throwing_codec {
  [[nodiscard]] std::string name() const { return "throwing"; }
  [[nodiscard]] bool uses_parent() const { return false; }
  [[nodiscard]] std::size_t bound(cairn::dtype, std::size_t bytes) const { return bytes; }
  [[nodiscard]] cairn::encode_result encode(const cairn::encode_request&, std::span<std::byte>) const { throw 42; }
  void decode(const cairn::decode_request&) const {}
};

}  // namespace

TEST_CASE("a codec that throws what is no std::exception makes the save fail, with a cairn::error") {
  for (const bool asynchronous : {true, false}) {
    heard events;
    checkpointer run(cairn::stores::memory(), {.when = every_step{1},
                                               .codecs = {{"*", throwing_codec()}},
                                               .on_event = std::ref(events),
                                               .asynchronous = asynchronous});
    const auto failure = sample::failure_of([&] {
      std::ignore = run.step(trained(1), {.step = 1});
      run.wait();
    });
    CHECK(failure.code == errc::invalid);
    CHECK(failure.says("no std::exception"));
    CHECK(events.count(kind::failed) == 1);
    CHECK(run.stats().failed == 1);
  }
}

TEST_CASE("a signal straight after a restore, at the same step: the state is saved, as it may have changed") {
  const cairn::stores::memory store;
  checkpointer(store).save(trained(5), {.step = 5});
  heard events;
  checkpointer run(store, {.when = every_step{1}, .on_event = std::ref(events), .preempt = {SIGUSR1}});
  trainer state;
  REQUIRE(run.restore(state));
  state = trained(6);
  std::raise(SIGUSR1);
  const auto outcome = run.step(state, {.step = 5});
  CHECK(outcome.stop);
  CHECK(outcome.started);
  CHECK(events.lines() == names{"restored 5", "stopping 5", "started 5", "encoded 5", "written 5", "published 5"});
  CHECK(restored(store, checkpoint_name(5)) == trained(6));
}

TEST_CASE("a copy that cannot be made counts as a failed save") {
  std::vector<float> values(1);
  struct {
    std::span<float> huge;
  } state{{values.data(), std::size_t{1} << 45U}};  // never read: there is no plan for its copy
  heard events;
  checkpointer run(cairn::stores::memory(),
                   {.when = every_step{1}, .on_event = std::ref(events), .max_staging_bytes = std::uint64_t{1} << 20U});
  const auto failure = sample::failure_of([&] { std::ignore = run.step(state, {.step = 1}); });
  CHECK(failure.code == errc::invalid);
  CHECK(failure.says("the state is too large for copies of 1048576 bytes"));
  CHECK(run.stats().failed == 1);
  CHECK(events.lines() == names{"started 1", "failed 1"});
  CHECK_NOTHROW(run.wait());
  CHECK(run.step(values, {.step = 2}).save.get().bytes > 0);
}

TEST_CASE("a merge keeps to the limit on bytes per second, and the destructor cancels it") {
  for (const double limit : {1e5, next_to_nothing}) {
    cairn::any_store store = cairn::stores::memory();
    heard events;
    const bool is_cancelled = limit == next_to_nothing;
    const auto began = std::chrono::steady_clock::now();
    {
      std::mt19937 random(1);
      auto state = chain::start(random);
      checkpointer run(store, {.codecs = chain::mixed_rules(),
                               .chain = {.merge = cairn::merging{.every = 2}},
                               .on_event = std::ref(events),
                               .on_destruction = cairn::when_destroyed::cancel,
                               .max_bytes_per_second = limit});
      for (std::uint64_t step = 1; step <= 3; ++step) {
        chain::train(state, random);
        run.save(state, {.step = step});
      }
      if (!is_cancelled) run.wait();
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    CHECK(events.count(kind::merged) == !is_cancelled);
    CHECK(events.count(kind::failed) == 0);
    CHECK(cairn::detail::chain_reader(store, checkpoint_name(3)).links().size() == (is_cancelled ? 3 : 2));
    CHECK(store.list() == names_of({1, 2, 3}));
    const auto index = cairn::detail::read_index(*store.open(checkpoint_name(3)));
    if (!is_cancelled) CHECK(took.count() >= static_cast<double>(index.total_size) / limit);
  }
}

TEST_CASE("deltas are merged although the save before was cancelled") {
  const auto deep = tests::too_deep();
  std::mt19937 random(3);
  auto state = chain::start(random, 100'000);  // takes seconds to write; its deltas do not
  checkpointer run(cairn::stores::memory(), {.when = every_step{1},
                                             .codecs = {{"*", cairn::codecs::lossless{.xor_parent = true}}},
                                             .chain = {.anchor_every = 1000, .merge = cairn::merging{.every = 2}},
                                             .on_busy = cairn::when_busy::replace,
                                             .max_bytes_per_second = 1e5});
  CHECK(run.step(state, {.step = 1}).started);
  CHECK(sample::failure_of([&] { std::ignore = run.step(deep, {.step = 2}); }).code == errc::invalid);
  CHECK(run.stats().skipped == 1);  // step 1, for a save that failed itself
  for (std::uint64_t step = 3; step <= 5; ++step) run.save(state, {.step = step});
  run.wait();
  CHECK(run.stats().merged == 1);
}

TEST_CASE("a signal while a save is running: it is hurried when there is time, else cancelled for the newer state") {
  for (const double deadline : {30.0, 1e-9}) {
    INFO(deadline);
    const cairn::stores::memory store;
    checkpointer run(store, {.when = every_step{1},
                             .max_bytes_per_second = next_to_nothing,
                             .preempt = {SIGUSR1},
                             .preempt_deadline = std::chrono::duration<double>(deadline)});
    CHECK(run.step(trained(1, 100'000), {.step = 1}).started);
    std::raise(SIGUSR1);
    CHECK(run.step(trained(2, 100'000), {.step = 2}).stop);
    CHECK(store.list().back() == checkpoint_name(2));
    if (deadline > 1) CHECK(store.list() == names_of({1, 2}));
    CHECK(restored(store, checkpoint_name(2)) == trained(2, 100'000));
  }
}

TEST_CASE("a signal when a save of the same step runs or is published: the state is saved, as a step may be an epoch") {
  for (const bool is_published : {true, false}) {
    const cairn::stores::memory store;
    heard events;
    checkpointer run(store, {.when = every_step{1}, .on_event = std::ref(events), .preempt = {SIGUSR1}});
    CHECK(run.step(trained(1), {.step = 1}).started);
    if (is_published) run.wait();
    std::raise(SIGUSR1);
    const auto outcome = run.step(trained(2), {.step = 1});
    CHECK(outcome.stop);
    CHECK(outcome.started);
    CHECK(events.count(kind::published) == 2);
    CHECK(store.list() == names_of({1}));
    CHECK(restored(store, checkpoint_name(1)) == trained(2));
  }
}

TEST_CASE("no time left for encoding: the state is stored as it is") {
  struct {
    std::vector<std::uint32_t>
        noise;  // takes time to encode, and does not get smaller: storing it as it is must be faster
    std::vector<float> zeros;
  } state, back;
  std::mt19937 random(1);
  state.noise.resize(3'000'000);
  for (auto& value : state.noise) value = static_cast<std::uint32_t>(random());
  state.zeros.resize(1'000);
  for (const double deadline : {1e9, 1e-9}) {
    const cairn::stores::memory store;
    checkpointer run(store, {.when = every_step{1},
                             .codecs = {{"*", cairn::codecs::lossless{}}},
                             .preempt = {SIGUSR1},
                             .preempt_deadline = std::chrono::duration<double>(deadline)});
    CHECK(run.step(state, {.step = 1}).started);
    run.wait();
    std::raise(SIGUSR1);
    CHECK(run.step(state, {.step = 2}).stop);
    const auto opened = cairn::detail::open_checkpoint(store, checkpoint_name(2));
    REQUIRE(opened.index.storage.size() == 2);
    CHECK((opened.index.storage[1].encoded == nullptr) == (deadline < 1));
    checkpointer(store).restore(back);
    CHECK(back.noise == state.noise);
    CHECK(back.zeros == state.zeros);
  }
}

TEST_CASE("an older error does not keep the state from being saved when a signal has come; it is thrown by wait") {
  tests::gated_store gated;
  gated.refuses = [](std::string_view name) { return name == checkpoint_name(1); };
  checkpointer run(gated, {.when = every_step{1}, .preempt = {SIGUSR1}});
  CHECK(run.step(trained(1), {.step = 1}).started);
  std::raise(SIGUSR1);
  CHECK(run.step(trained(2), {.step = 2}).stop);
  CHECK(gated.list() == names_of({2}));
  CHECK(sample::failure_of([&] { run.wait(); }).says("the disk is full at step-000000001"));
  CHECK_NOTHROW(run.wait());
}

namespace {

/// Saves at every step, and throws in the hook of this name.
struct failing_policy {
  std::string fails;

  [[nodiscard]] bool should_save(const cairn::moment& now) const {
    call("should_save");
    return now.step > now.saved_step;
  }
  void saved(const cairn::save_cost&) const { call("saved"); }
  void restarted(const cairn::restart&) const { call("restarted"); }
  [[nodiscard]] cairn::policy_memory remember() const {
    call("remember");
    return {{"mine", {1}}};
  }
  void recall(const cairn::policy_memory&) const { call("recall"); }

 private:
  void call(const char* hook) const {
    if (fails == hook) throw std::runtime_error("no luck");
  }
};

/// Saves at every step, and remembers nothing.
struct restarts_only {
  std::shared_ptr<std::vector<cairn::restart>> restarts = std::make_shared<std::vector<cairn::restart>>();

  [[nodiscard]] bool should_save(const cairn::moment& now) const { return now.step > now.saved_step; }
  void restarted(const cairn::restart& how) const { restarts->push_back(how); }
};

struct fails_at_times {
  const std::string* fails;

  [[nodiscard]] bool should_save(const cairn::moment& now) const { return failing_policy{*fails}.should_save(now); }
};

struct when_set {
  const bool* is_due;

  [[nodiscard]] bool should_save(const cairn::moment&) const { return *is_due; }
};

/// The messages of the events of a kind.
names messages(const heard& events, kind what) {
  names all;
  for (const auto& each : events.all)
    if (each.what == what) all.push_back(each.message);
  return all;
}

}  // namespace

TEST_CASE("a policy that throws when it is asked: an error that names the hook, or an event with keep_training") {
  heard events;
  checkpointer run(cairn::stores::memory(), {.when = failing_policy{"should_save"}, .on_event = std::ref(events)});
  const auto failure = sample::failure_of([&] { std::ignore = run.step(trained(1), {.step = 1}); });
  CHECK(failure.code == errc::invalid);
  CHECK(failure.says("cairn: the policy's should_save has failed: "));
  CHECK(failure.says(": no luck"));
  CHECK(run.stats().failed == 1);
  CHECK(events.lines() == names{"failed 1"});
  CHECK(run.save(trained(1), {.step = 1}).bytes > 0);  // does not ask

  heard kept;
  checkpointer keeps(cairn::stores::memory(), {.when = failing_policy{"should_save"},
                                               .on_event = std::ref(kept),
                                               .on_failure = cairn::when_failed::keep_training});
  const auto outcome = keeps.step(trained(1), {.step = 1});
  CHECK(sample::failure_of([&] { std::ignore = outcome.save.get(); }).says("should_save has failed: "));
  CHECK(kept.lines() == names{"failed 1"});
}

TEST_CASE("a policy that throws when a save is reported or notes are asked for: an event, and the save is made") {
  for (const std::string hook : {"saved", "remember"}) {
    const cairn::stores::memory store;
    heard events;
    checkpointer run(store, {.when = failing_policy{hook}, .on_event = std::ref(events)});
    for (std::uint64_t step = 1; step <= 2; ++step) {
      CHECK(run.step(trained(step), {.step = step}).started);
      run.wait();
    }
    CHECK(run.save(trained(3), {.step = 3}).bytes > 0);
    CHECK_NOTHROW(run.wait());
    CHECK(store.list() == names_of({1, 2, 3}));
    CHECK(run.stats().failed == 0);
    const auto all = messages(events, kind::failed);
    CHECK(all.size() == 3);
    for (const auto& each : all) CHECK(each.find("the policy's " + hook + " has failed: ") != std::string::npos);
    trainer back;
    const auto report = checkpointer(store).restore(back);
    CHECK(back == trained(3));
    CHECK(report->notes.contains("mine") == (hook != "remember"));
  }
}

TEST_CASE("a policy without a memory gets whether the previous run failed, and for how long it was away") {
  for (const bool ends : {false, true}) {
    const cairn::stores::memory store;
    {
      checkpointer run(store, {.when = restarts_only{}});
      CHECK(run.step(trained(1), {.step = 1}).started);
      if (ends) run.save(trained(2), {.step = 2});
    }
    const restarts_only policy;
    checkpointer run(store, {.when = policy});
    trainer back;
    REQUIRE(run.restore(back));
    REQUIRE(policy.restarts->size() == 1);
    CHECK(policy.restarts->at(0).after_failure == !ends);
    CHECK(policy.restarts->at(0).away_seconds > 0);
  }
}

TEST_CASE("a policy that cannot recall or restart is an event: the state is restored, and the policy is reset") {
  const cairn::stores::memory store;
  {
    checkpointer run(store, {.when = failing_policy{}});
    CHECK(run.step(trained(3), {.step = 3}).started);
  }
  for (const std::string hook : {"recall", "restarted"}) {
    heard events;
    checkpointer run(store, {.when = failing_policy{hook}, .on_event = std::ref(events)});
    trainer state;
    const auto report = run.restore(state);
    REQUIRE(report);
    CHECK(report->step == 3);
    CHECK(state == trained(3));
    CHECK(events.lines() == names{"restored 3", "failed 3"});
    CHECK(events.all[1].message.find("the policy's " + hook + " has failed: ") != std::string::npos);
    CHECK(run.stats().failed == 0);
    CHECK_FALSE(run.step(state, {.step = 3}).started);
    CHECK(run.restore(state));
    CHECK(events.count(kind::failed) == (hook == "recall" ? 1 : 2));  // a process that has made a step recalls nothing
  }
}

namespace {

/// Can be loaded, but not described.
struct write_only {
  int value = 0;
  bool is_whole = false;
};

}  // namespace

template <>
struct cairn::adapter<write_only> {
  static int get(const write_only& from) {
    if (!from.is_whole) throw std::runtime_error("nothing to see");
    return from.value;
  }
  static void set(write_only& to, int value) { to = {value}; }
};

TEST_CASE("a copy that cannot be prepared is no error of a restore or of a step that does not save") {
  const cairn::stores::memory store;
  checkpointer(store).save(write_only{7, true}, {.step = 1});
  heard events;
  for (const auto on_failure : {cairn::when_failed::raise, cairn::when_failed::keep_training}) {
    checkpointer run(store, {.when = every_step{10}, .on_event = std::ref(events), .on_failure = on_failure});
    write_only state;
    CHECK_NOTHROW(run.restore(state));
    CHECK(state.value == 7);
    CHECK_NOTHROW(run.step(state, {.step = 2}).started);
    CHECK(sample::failure_of([&] { run.save(state, {.step = 3}); }).says("nothing to see"));
  }
  checkpointer unprepared(store, {.when = every_step{10}, .on_failure = cairn::when_failed::keep_training});
  CHECK_NOTHROW(unprepared.step(write_only{}, {.step = 2}).started);
  CHECK(events.count(kind::failed) == 2);  // those of `save`
}

TEST_CASE("on_failure = keep_training: after a failed save no step saves until it is time to retry") {
  for (const bool asynchronous : {true, false}) {
    INFO(asynchronous);
    tests::gated_store gated;
    bool is_full = true;
    gated.refuses = [&](std::string_view) { return is_full; };
    checkpointer run(
        gated, {.when = every_step{1}, .asynchronous = asynchronous, .on_failure = cairn::when_failed::keep_training});
    const auto state = trained(1);
    std::uint64_t step = 0, waited = 0;
    for (int failures = 0; failures < 6;) {  // then a retry waits for at least 32 times as long as the first save took
      const auto outcome = run.step(state, {.step = ++step});
      run.wait();
      failures += outcome.started;
      waited += outcome.skipped;
    }
    CHECK(run.stats().failed == 6);
    CHECK(step == 6 + waited);
    CHECK(waited > 0);
    is_full = false;
    while (true) {
      const auto outcome = run.step(state, {.step = ++step});
      run.wait();
      if (outcome.started) break;
    }
    for (int i = 0; i < 5; ++i) {  // a save that was made ends this
      CHECK(run.step(state, {.step = ++step}).started);
      run.wait();
    }
  }
}

TEST_CASE("a failure that passes: saves in the background are tried again, and no step throws") {
  tests::gated_store gated;
  bool is_full = true;
  gated.refuses = [&](std::string_view) { return is_full; };
  std::size_t failures = 0;
  const auto count = [&](const cairn::event& what) { failures += what.what == cairn::event::kind::failed; };
  checkpointer run(gated, {.when = every_step{1}, .on_event = count, .retry_for = std::chrono::hours(1)});
  const auto state = trained(1);
  std::uint64_t step = 0;
  while (run.stats().failed < 4) {
    const auto outcome = run.step(state, {.step = ++step});
    if (outcome.save) outcome.save.wait();
  }
  std::ignore = run.step(state, {.step = ++step});
  CHECK(failures == 4);
  CHECK(sample::failure_of([&] { run.wait(); }).code == errc::io);  // the newest save is lost
  CHECK_NOTHROW(run.wait());
  while (run.stats().failed < 5) std::ignore = run.step(state, {.step = ++step});
  is_full = false;
  while (run.stats().saves == 0) std::ignore = run.step(state, {.step = ++step});
  CHECK_NOTHROW(run.wait());
  is_full = true;
  while (run.stats().failed < 6) std::ignore = run.step(state, {.step = ++step});
  is_full = false;
  CHECK(run.save(state, {.step = ++step}).bytes > 0);  // does not wait for a pause
  CHECK_NOTHROW(run.wait());
}

TEST_CASE("a failure that does not pass ends the run; one that is not of the storage does so at once") {
  tests::gated_store gated;
  gated.refuses = [](std::string_view) { return true; };
  const auto state = trained(1);
  for (const auto longest : {std::chrono::duration<double>(0), std::chrono::duration<double>(0.001)}) {
    checkpointer run(gated, {.when = every_step{1}, .retry_for = longest});
    const auto failure = sample::failure_of([&] {
      for (std::uint64_t step = 1;; ++step) std::ignore = run.step(state, {.step = step});
    });
    CHECK(failure.code == errc::io);
    CHECK(failure.says("the disk is full"));
    CHECK(run.stats().failed >= (longest.count() == 0 ? 1U : 2U));
  }
  checkpointer run(cairn::stores::memory(), {.when = every_step{1}, .codecs = {{"*", throwing_codec()}}});
  const auto outcome = run.step(state, {.step = 1});
  outcome.save.wait();
  CHECK_FALSE(sample::failure_of([&] { std::ignore = run.step(state, {.step = 2}); }).sentence.empty());
  CHECK(run.stats().failed == 1);
}

TEST_CASE("after the error of a failure that does not pass, saves are tried again with growing pauses") {
  tests::gated_store gated;
  bool is_full = true;
  gated.refuses = [&](std::string_view) { return is_full; };
  checkpointer run(gated, {.when = every_step{1}, .retry_for = std::chrono::duration<double>(1e-6)});
  const auto state = trained(1);
  std::uint64_t step = 0, thrown = 0, waited = 0;
  while (thrown < 7) {
    try {
      const auto outcome = run.step(state, {.step = ++step});
      if (outcome.save) outcome.save.wait();
      if (thrown > 0) waited += outcome.skipped;
    } catch (const cairn::error& failure) {
      CHECK(failure.code() == errc::io);
      ++thrown;
    }
  }
  CHECK(waited > 0);
  is_full = false;
  while (run.stats().saves == 0) std::ignore = run.step(state, {.step = ++step});
  run.wait();
  CHECK(run.step(state, {.step = ++step}).started);
}

TEST_CASE("a merge that fails is not tried again in silence: the next call throws") {
  for (const bool by_step : {true, false}) {
    tests::gated_store gated;
    gated.refuses = [&](std::string_view name) {  // only a merge replaces a checkpoint here
      const auto there = gated.inner.list();
      return std::find(there.begin(), there.end(), name) != there.end();
    };
    checkpointer run(gated, {.when = every_step{1},
                             .codecs = chain::mixed_rules(),
                             .chain = {.anchor_every = 1000, .merge = cairn::merging{.every = 2}},
                             .on_busy = cairn::when_busy::wait,
                             .retry_for = std::chrono::hours(1)});
    std::mt19937 random(3);
    auto state = chain::start(random);
    const auto failure = sample::failure_of([&] {
      for (std::uint64_t step = 1; step <= 5; ++step) {
        if (by_step)
          std::ignore = run.step(state, {.step = step});
        else
          run.save(state, {.step = step});
        chain::train(state, random);
      }
    });
    CHECK(failure.code == errc::io);
    CHECK(failure.says("the disk is full"));
    CHECK(run.stats().saves >= 3);
    CHECK(run.stats().failed == 1);
  }
}

TEST_CASE("while a retry waits, save and a stop save at once") {
  tests::gated_store gated;
  bool is_full = true;
  gated.refuses = [&](std::string_view) { return is_full; };
  for (const bool by_signal : {true, false}) {
    is_full = true;
    checkpointer run(gated,
                     {.when = every_step{1}, .on_failure = cairn::when_failed::keep_training, .preempt = {SIGUSR1}});
    std::uint64_t step = by_signal ? 100 : 200;
    do {
      std::ignore = run.step(trained(1), {.step = ++step});
      run.wait();
    } while (!run.step(trained(1), {.step = ++step}).skipped);
    is_full = false;
    ++step;
    if (by_signal) {
      std::raise(SIGUSR1);
      CHECK(run.step(trained(1), {.step = step}).started);
    } else {
      run.save(trained(1), {.step = step});
    }
    CHECK(gated.list().back() == checkpoint_name(step));
  }
}

TEST_CASE("a merge that fails does not delay the next save") {
  tests::gated_store gated;
  tests::gate merging;
  merging.close();
  gated.refuses = [&](std::string_view name) {
    const auto there = gated.inner.list();
    if (std::find(there.begin(), there.end(), name) == there.end()) return false;
    merging.pass();
    return true;  // only a merge replaces a checkpoint here
  };
  bool is_due = true;
  checkpointer run(gated, {.when = when_set{&is_due},
                           .codecs = chain::mixed_rules(),
                           .chain = {.anchor_every = 1000, .merge = cairn::merging{.every = 2}},
                           .on_failure = cairn::when_failed::keep_training});
  std::mt19937 random(3);
  auto state = chain::start(random);
  for (std::uint64_t step = 1; step <= 3; ++step) {
    run.save(state, {.step = step});
    chain::train(state, random);
  }
  is_due = false;
  for (std::uint64_t step = 4; step < 1000; ++step) std::ignore = run.step(state, {.step = step});
  merging.open();
  run.wait();
  CHECK(run.stats().failed == 1);
  is_due = true;
  CHECK(run.step(state, {.step = 1000}).started);
}

TEST_CASE("while a retry waits, a running save is not cancelled for one that is not made") {
  const cairn::stores::memory store;
  std::string fails;
  checkpointer run(store, {.when = fails_at_times{&fails},
                           .on_busy = cairn::when_busy::replace,
                           .on_destruction = cairn::when_destroyed::cancel,
                           .on_failure = cairn::when_failed::keep_training,
                           .max_bytes_per_second = next_to_nothing});
  CHECK(run.step(trained(1), {.step = 1}).started);
  fails = "should_save";
  const auto state = trained(2);
  for (int failures = 0; failures < 10;) {  // then a retry waits for at least 512 times as long as the first step took
    const auto failed = run.step(state, {.step = 2});
    if (!failed.started) continue;
    ++failures;
    CHECK(failed.stall_seconds > 0);
    CHECK(sample::failure_of([&] { std::ignore = failed.save.get(); }).code == errc::invalid);
  }
  fails.clear();
  const auto next = run.step(state, {.step = 2});
  CHECK(run.stats().skipped == (next.started ? 1 : 0));
}
