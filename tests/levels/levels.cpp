// SPDX-License-Identifier: MIT
#include "cairn/levels.hpp"

#include <atomic>
#include <csignal>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "cairn/checkpointer.hpp"
#include "cairn/load.hpp"
#include "cairn/merge.hpp"
#include "cairn/save.hpp"
#include "cairn/store/directory.hpp"
#include "catch.hpp"
#include "child.hpp"
#include "gate.hpp"
#include "hooked_store.hpp"
#include "ranks.hpp"
#include "store/sample.hpp"
#include "trainer.hpp"

using cairn::errc;
using kind = cairn::event::kind;
using steps = std::vector<std::uint64_t>;
using sample::steps_in;
using tests::trained;
using tests::trainer;
namespace fs = std::filesystem;

namespace {

constexpr std::chrono::hours hour(1);

/// A state that changes little from step to step.
trainer moved(std::uint64_t step) {
  auto made = trained(1, 5000);
  for (std::uint64_t i = 0; i < step; ++i) made.model.weight[i] += 1;
  made.step = static_cast<std::int64_t>(step);
  return made;
}

/// Options of a group whose ranks wait for longer than the leases of two places.
cairn::checkpointer_options patient() {
  auto options = quick();
  options.rank_timeout = std::chrono::seconds(200);
  return options;
}

/// Two directories, a run in them, and its events.
struct two_places {
  sample::scratch scratch{};
  cairn::any_store near = cairn::stores::directory(scratch.path("near"));
  cairn::any_store far = cairn::stores::directory(scratch.path("far"));
  cairn::level_options how{.every = std::chrono::seconds(0)};
  std::vector<cairn::event> events{};

  [[nodiscard]] cairn::checkpointer run(cairn::checkpointer_options options = {}) {
    options.on_event = [this](const cairn::event& what) { events.push_back(what); };
    return cairn::checkpointer(cairn::levels{near, cairn::level{far, how}}, std::move(options));
  }
  [[nodiscard]] std::size_t count(kind what) const {
    return static_cast<std::size_t>(std::ranges::count(events, what, &cairn::event::what));
  }
  /// Flips a bit in the middle of a shard.
  static void damage(const std::string& directory) {
    for (const auto& file : fs::directory_iterator(directory)) {
      if (file.path().extension() != ".safetensors") continue;
      auto bytes = sample::slurp(file.path());
      bytes[bytes.size() - 9] ^= 1;
      sample::spill(file.path(), bytes);
    }
  }
};

}  // namespace

TEST_CASE("a save is at all places when it returns, as the same files") {
  two_places at;
  at.run().save(trained(7), {.step = 7});
  const std::string name = "step-000000007";
  REQUIRE(at.far.list() == std::vector{name});
  const auto files = at.near.open(name)->files();
  CHECK(at.far.open(name)->files() == files);
  for (const auto& file : files) CHECK(sample::get(at.far, name, file) == sample::get(at.near, name, file));
  trainer state;
  cairn::load(at.far, state);
  CHECK(state == trained(7));
}

TEST_CASE("a machine that has lost its disk goes on from the far place; else the near one is read") {
  two_places at;
  at.run().save(trained(3), {.step = 3});
  const bool is_lost = GENERATE(false, true);
  if (is_lost) fs::remove_all(at.scratch.path("near"));
  trainer state;
  auto next = at.run();
  const auto report = next.restore(state);
  REQUIRE(report);
  CHECK(report->step == 3);
  CHECK(report->level == (is_lost ? 1 : 0));
  CHECK(state == trained(3));
  next.save(trained(4), {.step = 4});
  CHECK(steps_in(at.near).back() == 4);
  CHECK(steps_in(at.far) == steps{3, 4});
  CHECK(next.steps() == steps{3, 4});
}

TEST_CASE("where the near copy is damaged, the same step is restored from the far place, not an older one") {
  two_places at;
  {
    auto run = at.run();
    run.save(trained(1), {.step = 1});
    run.save(trained(2), {.step = 2});
  }
  two_places::damage(at.scratch.path("near/step-000000002"));
  SECTION("a shard") {}
  SECTION("the index") { sample::spill(at.scratch.path("near/step-000000002/index.json"), "{"); }
  trainer state;
  const auto report = at.run().restore(state);
  REQUIRE(report);
  CHECK(report->step == 2);
  CHECK(report->level == 1);
  CHECK(report->skipped.empty());
  CHECK(at.count(kind::fell_back) == 1);
  CHECK(state == trained(2));
}

TEST_CASE("damage is never copied") {
  two_places at;
  tests::gated_store gated{.inner = at.far};
  at.far = gated;
  gated.entrance->close();
  auto run = at.run({.when = cairn::policies::every_steps{1}});
  run.step(trained(1), {.step = 1}).save.wait();
  gated.entrance->wait_for_arrival();  // its copy has begun, and nothing is read yet but the index
  two_places::damage(at.scratch.path("near/step-000000001"));
  gated.entrance->open();
  run.wait();
  CHECK(steps_in(at.far).empty());
  REQUIRE(at.count(kind::failed) == 1);
  const auto failed = *std::ranges::find(at.events, kind::failed, &cairn::event::what);
  CHECK(failed.code == errc::corrupt);
  CHECK(failed.message.find(at.scratch.path("near/step-000000001/shard")) != std::string::npos);
}

TEST_CASE("where the far place is away or full, training goes on and a save throws; it gets its copy when it can") {
  two_places at;
  const bool is_full = GENERATE(false, true);
  std::atomic<bool> fails = false;
  std::atomic<int> writes{0};
  const auto network = [&] {
    if (fails && !is_full) cairn::fail(errc::io, {"the network is down"});
  };
  const auto disk = [&] {  // has room for the beginning of a checkpoint, and for no file
    network();
    if (fails && writes++ % 2 != 0) cairn::fail(errc::io, {"the disk is full"});
  };
  const auto far = at.far;
  at.far = hooked_store{far, {.before_write = disk, .before_other = network}};
  {
    auto run = at.run({.keep_last = 2, .when = cairn::policies::every_steps{1}});
    run.save(trained(1), {.step = 1});
    fails = true;
    for (std::uint64_t step = 2; step <= 5; ++step) CHECK(run.step(trained(step), {.step = step}).save.get().bytes > 0);
    const auto failure = sample::failure_of([&] { run.save(trained(6), {.step = 6}); });
    CHECK(failure.code == errc::io);
    CHECK(failure.says(is_full ? "the disk is full" : "the network is down"));
    CHECK(steps_in(at.near).back() == 6);
    CHECK(steps_in(far) == steps{1});
    CHECK(at.count(kind::failed) >= 1);
    fails = false;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (run.stats().levels.at(0).step != 6 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    CHECK(run.stats().levels.at(0).failed >= 1);
    CHECK(run.stats().levels.at(0).copies == 2);
    CHECK(run.stats().levels.at(0).place == at.scratch.path("far"));
  }
  CHECK(steps_in(far) == steps{1, 6});
  CHECK(std::distance(fs::directory_iterator(at.scratch.path("far")), {}) == 2);  // nothing else is left there
  trainer state;
  cairn::load(far, state);
  CHECK(state == trained(6));
}

TEST_CASE("a copy is due when the time since the last one has passed") {
  two_places at;
  const bool is_seldom = GENERATE(false, true);
  at.how.every = std::chrono::seconds(is_seldom ? 3600 : 0);
  auto run = at.run({.when = cairn::policies::every_steps{1}});
  for (std::uint64_t step = 1; step <= 3; ++step) {
    run.step(trained(step), {.step = step}).save.wait();
    run.wait();
  }
  if (is_seldom) {
    CHECK(steps_in(at.far).size() == 1);
  } else {
    // The copy of each has begun, or that of the last one follows.
    run.save(trained(3), {.step = 3});
    CHECK(steps_in(at.far).back() == 3);
  }
}

TEST_CASE("where no period is given, it is chosen: by copies, and by restarts that needed the place") {
  two_places at;
  at.how.every.reset();
  const cairn::checkpointer_options options{.when = cairn::policies::every_steps{1}};
  {
    auto run = at.run(options);
    CHECK(run.stats().levels.at(0).period == 0);
    for (std::uint64_t step = 1; step <= 2; ++step) {
      run.step(trained(step), {.step = step}).save.wait();
      run.wait();
    }
    const auto stats = run.stats().levels.at(0);
    CHECK(stats.copies >= 1);
    CHECK(stats.period > 0);
    CHECK(stats.period <= 3600);
  }
  const bool is_lost = GENERATE(false, true);
  for (std::uint64_t step = 3; step <= 4; ++step) {
    if (is_lost) fs::remove_all(at.scratch.path("near"));
    trainer state;
    auto next = at.run(options);
    REQUIRE(next.restore(state)->level == (is_lost ? 1 : 0));
    next.step(trained(step), {.step = step}).save.wait();
    next.wait();
    const auto notes = cairn::load(at.near, state).notes;
    CHECK(notes.at("level.1.failures").at(0) == (is_lost ? static_cast<double>(step) - 2 : 0));
    CHECK(notes.at("level.1.failures").at(1) > 0);
  }
}

TEST_CASE("the first copy takes as long as it takes: no period is known that it could miss") {
  two_places at;
  at.how.every.reset();
  tests::gated_store gated{.inner = at.far};
  gated.entrance->close();
  cairn::checkpointer run(cairn::levels{at.near, gated},
                          {.when = cairn::policies::every_steps{1},
                           .on_event = [&](const cairn::event& what) { at.events.push_back(what); }});
  run.step(trained(1), {.step = 1}).save.wait();
  gated.entrance->wait_for_arrival();
  run.step(trained(2), {.step = 2}).save.wait();
  CHECK(at.count(kind::lagging) == 0);
  gated.entrance->open();
}

TEST_CASE("each place keeps what the rules of the checkpointer keep there, or its own number of the newest") {
  two_places at;
  at.how.keep_last = 1;
  cairn::levels places{cairn::level{at.near, {.keep_last = 2}}, cairn::level{at.far, at.how}};
  cairn::checkpointer run(places, {.keep_last = 5, .pinned = {2}});
  for (std::uint64_t step = 1; step <= 6; ++step) run.save(trained(step), {.step = step});
  CHECK(steps_in(at.near) == steps{2, 5, 6});
  CHECK(steps_in(at.far) == steps{2, 6});
  CHECK(run.steps() == steps{2, 5, 6});
}

TEST_CASE("what is being copied is not removed at the near place") {
  two_places at;
  tests::gated_store gated{.inner = at.far};
  at.far = gated;
  gated.entrance->close();
  auto run = at.run({.keep_last = 1, .when = cairn::policies::every_steps{1}});
  run.step(trained(1), {.step = 1}).save.wait();
  gated.entrance->wait_for_arrival();  // its copy has begun
  for (std::uint64_t step = 2; step <= 4; ++step) run.step(trained(step), {.step = step}).save.wait();
  CHECK(steps_in(at.near) == steps{1, 4});
  CHECK(at.count(kind::lagging) == 1);
  gated.entrance->open();
  run.save(trained(5), {.step = 5});
  run.save(trained(6), {.step = 6});
  CHECK(steps_in(at.near) == steps{6});
  CHECK(steps_in(at.far) == steps{6});
}

TEST_CASE("a copy comes with all that it is built on, and a merged checkpoint is not copied again") {
  two_places at;
  at.how.every = hour;
  const bool merges = GENERATE(false, true);
  cairn::checkpointer_options options{.codecs = {{"*", cairn::codecs::lossless{.xor_parent = true}}}};
  if (merges) {
    options.chain.merge = cairn::merging{.every = 3};
    options.chain.anchor_every = 20;
  }
  {
    auto run = at.run(options);
    for (std::uint64_t step = 1; step <= 6; ++step) CHECK(run.save(moved(step), {.step = step}).is_delta == (step > 1));
    run.wait();
    CHECK(steps_in(at.far) == steps{1, 2, 3, 4, 5, 6});
    CHECK(run.stats().levels.at(0).copies == 6);
  }
  fs::remove_all(at.scratch.path("near"));
  trainer state;
  auto next = at.run(options);
  CHECK(next.restore(state)->step == 6);
  CHECK(state == moved(6));
  const auto report = next.save(moved(7), {.step = 7});
  CHECK_FALSE(report.is_delta);  // the near place does not have the others
}

TEST_CASE("the far place gets what it misses: also what someone has deleted there") {
  two_places at;
  auto run = at.run({.codecs = {{"*", cairn::codecs::lossless{.xor_parent = true}}}});
  for (std::uint64_t step = 1; step <= 3; ++step) run.save(moved(step), {.step = step});
  fs::remove_all(at.scratch.path("far/step-000000001"));
  fs::remove_all(at.scratch.path("far/step-000000003"));
  sample::spill(at.scratch.path("far/step-000000002/index.json"), "{");
  run.save(moved(4), {.step = 4});
  CHECK(steps_in(at.far) == steps{1, 2, 3, 4});
  trainer state;
  cairn::load(at.far, state);
  CHECK(state == moved(4));
}

TEST_CASE("a machine that comes back with an older history does not bring it back") {
  two_places a;
  {
    auto run = a.run();
    run.save(trained(10), {.step = 10});
    a.how.every = hour;
  }
  {  // goes on after its last copy, and vanishes
    auto run = a.run({.when = cairn::policies::every_steps{1}, .on_destruction = cairn::when_destroyed::cancel});
    trainer state;
    run.restore(state);
    run.step(trained(11), {.step = 11}).save.wait();
    run.wait();  // the copy of step 11
    for (std::uint64_t step = 12; step <= 15; ++step) run.step(trained(step), {.step = step}).save.wait();
  }
  CHECK(steps_in(a.far) == steps{10, 11});
  const sample::scratch other;
  const auto on_b = [&] { return cairn::levels{other.path("near"), a.far}; };
  {
    cairn::checkpointer run(on_b());
    trainer state;
    REQUIRE(run.restore(state)->step == 11);
    run.save(trained(12, 90), {.step = 12});  // another step 12
    run.save(trained(13, 90), {.step = 13});
  }
  auto back = a.run();
  CHECK(back.steps() == steps{10, 11, 12, 13});
  trainer state;
  const auto report = back.restore(state);
  REQUIRE(report);
  CHECK(report->step == 13);
  CHECK(report->level == 1);
  CHECK(state == trained(13, 90));
  back.save(trained(14, 90), {.step = 14});
  CHECK(steps_in(a.near) == steps{10, 11, 14});
  CHECK(steps_in(a.far) == steps{10, 11, 12, 13, 14});
  CHECK(std::ranges::count_if(a.events, [](const auto& what) {
          return what.what == kind::pruned && what.message.find("another machine") != std::string::npos;
        }) == 3);  // the step 14 is replaced
}

TEST_CASE("remove_after removes at all places, also what is being copied") {
  two_places at;
  tests::gated_store gated{.inner = at.far};
  at.far = gated;
  auto run = at.run({.when = cairn::policies::every_steps{1}});
  run.save(trained(1), {.step = 1});
  run.save(trained(2), {.step = 2});
  gated.entrance->close();
  run.step(trained(3), {.step = 3}).save.wait();
  gated.entrance->wait_for_arrival();  // its copy has begun
  gated.entrance->open();
  CHECK(run.remove_after(1) == 2);
  CHECK(steps_in(at.near) == steps{1});
  CHECK(steps_in(at.far) == steps{1});
  run.save(trained(2), {.step = 2});
  CHECK(steps_in(at.far) == steps{1, 2});
}

TEST_CASE("while the far place is away, nothing is removed anywhere; when it is back, it is, at all places") {
  two_places at;
  const bool replaces = GENERATE(false, true);
  bool is_away = false;
  int asked = 0;
  at.far = hooked_store{at.far, {.before_other = [&] {
                          if (!is_away) return;
                          ++asked;
                          cairn::fail(errc::io, {"the network is down"});
                        }}};
  auto run = at.run({.on_older_step = replaces ? cairn::when_older::replace : cairn::when_older::refuse});
  for (std::uint64_t step = 1; step <= 4; ++step) run.save(trained(step), {.step = step});
  const auto removes = [&] {
    if (replaces)
      run.save(trained(1, 90), {.step = 1});
    else
      run.remove_after(1);
  };
  is_away = true;
  const auto failure = sample::failure_of(removes);
  CHECK(failure.code == errc::io);
  CHECK(failure.says("the network is down"));
  CHECK(asked == 1);                                    // each call may wait for minutes
  CHECK(at.count(kind::failed) == (replaces ? 2 : 1));  // the removal, and the save
  CHECK(steps_in(at.near) == steps{1, 2, 3, 4});
  is_away = false;
  CHECK(steps_in(at.far) == steps{1, 2, 3, 4});
  removes();
  CHECK(steps_in(at.near) == steps{1});
  CHECK(steps_in(at.far) == steps{1});
  trainer state;
  cairn::load(at.far, state);
  CHECK(state == (replaces ? trained(1, 90) : trained(1)));
}

TEST_CASE("two runs cannot save to one far place") {
  two_places at;
  auto run = at.run();
  run.save(trained(1), {.step = 1});
  const sample::scratch other;
  cairn::checkpointer second(cairn::levels{other.path("near"), at.far});
  const auto failure = sample::failure_of([&] { second.save(trained(2), {.step = 2}); });
  CHECK(failure.code == errc::busy);
  CHECK(failure.says(at.scratch.path("far")));
  CHECK(cairn::stores::directory(other.path("near")).list().empty());
}

TEST_CASE("a far place that cannot be listed is an error of the restore, not an empty place") {
  two_places at;
  at.run().save(trained(1), {.step = 1});
  fs::remove_all(at.scratch.path("near"));
  at.far = hooked_store{at.far, {.before_other = [] { cairn::fail(errc::io, {"the network is down"}); }}};
  trainer state;
  const auto failure = sample::failure_of([&] { at.run().restore(state); });
  CHECK(failure.code == errc::io);
  CHECK(failure.says("the network is down"));
}

TEST_CASE("the destructor finishes or cancels the copy that is being made") {
  two_places at;
  const auto how = GENERATE(cairn::when_destroyed::finish, cairn::when_destroyed::cancel);
  const bool finishes = how == cairn::when_destroyed::finish;
  at.how.max_bytes_per_second = finishes ? 1e9 : 1;
  {
    auto run = at.run({.when = cairn::policies::every_steps{1}, .on_destruction = how});
    run.step(trained(1, 100'000), {.step = 1}).save.wait();
    while (!finishes && !fs::exists(at.scratch.path("far"))) std::this_thread::yield();  // the copy begins
  }
  CHECK(steps_in(at.far).size() == (finishes ? 1 : 0));
  CHECK(steps_in(at.near) == steps{1});
  if (!finishes) CHECK(at.count(kind::failed) == 0);
  auto next = at.run();  // which removes what is left of it
  next.save(trained(2), {.step = 2});
  CHECK(steps_in(at.far).back() == 2);
}

TEST_CASE("a stop waits for the last place until the deadline") {
  two_places at;
  tests::gated_store gated{.inner = at.far};
  at.far = gated;
  at.how.every = hour;
  const bool is_slow = GENERATE(false, true);
  auto run = at.run({.until = std::chrono::system_clock::now()});
  if (is_slow) gated.entrance->close();
  const auto outcome = run.step(trained(1), {.step = 1});
  CHECK(outcome.stop);
  CHECK(steps_in(at.near) == steps{1});
  if (is_slow) {
    CHECK(steps_in(at.far).empty());
    CHECK(at.count(kind::failed) == 1);
    gated.entrance->open();
    run.wait();
  }
}

TEST_CASE("a stop tries again where the first copy fails") {
  two_places at;
  std::atomic<int> tries{0};
  at.far = tests::gated_store{.inner = at.far, .refuses = [&](std::string_view) { return tries++ == 0; }};
  auto run = at.run({.preempt = {SIGUSR2}, .preempt_deadline = hour});
  std::raise(SIGUSR2);
  CHECK(run.step(trained(1), {.step = 1}).stop);
  CHECK(steps_in(at.far) == steps{1});
  CHECK(at.count(kind::failed) == 1);
}

TEST_CASE("wrong places and options are refused before anything is saved") {
  const sample::scratch scratch;
  const auto a = scratch.path("a"), b = scratch.path("b");
  using cairn::level;
  using cairn::levels;
  const auto refuses = [](const auto& make) { return sample::failure_of(make).code == errc::invalid; };
  const std::chrono::duration<double> nan(std::numeric_limits<double>::quiet_NaN());
  CHECK(refuses([&] { levels(std::vector<level>{}); }));
  CHECK(refuses([&] { levels(std::vector{level(a)}); }));
  CHECK(refuses([&] { levels{a, a}; }));
  CHECK(refuses([&] { levels{a, level{b, {.keep_last = 0}}}; }));
  CHECK(refuses([&] { levels{a, level{b, {.every = std::chrono::seconds(-1)}}}; }));
  CHECK(refuses([&] { levels{a, level{b, {.every = nan}}}; }));
  CHECK(refuses([&] { levels{a, level{b, {.max_bytes_per_second = 0}}}; }));
  CHECK(refuses([&] { levels{level{a, {.every = hour}}, b}; }));
  std::vector<level> many;
  for (int i = 0; i < 8; ++i) many.emplace_back(scratch.path(std::to_string(i)));
  CHECK_FALSE(refuses([&] { levels{many}; }));
  many.emplace_back(a);
  CHECK(refuses([&] { levels{many}; }));
  CHECK(refuses([&] { levels{levels{a, b}, scratch.path("c")}; }));
  CHECK_NOTHROW(levels{a, b, scratch.path("c")});
  CHECK(fs::is_empty(scratch.path("")));
}

TEST_CASE("three places") {
  const sample::scratch scratch;
  const auto places = [&] { return cairn::levels{scratch.path("a"), scratch.path("b"), scratch.path("c")}; };
  cairn::checkpointer(places()).save(trained(1), {.step = 1});
  for (const auto* lost : {"a", "b"}) {
    fs::remove_all(scratch.path(lost));
    trainer state;
    CHECK(cairn::checkpointer(places()).restore(state)->level == (lost == std::string("a") ? 1 : 2));
    CHECK(state == trained(1));
  }
}

TEST_CASE("a group copies too, and restores from the far place on another number of ranks") {
  const sample::scratch scratch;
  const auto places = [&] { return cairn::levels{scratch.path("near"), scratch.path("far")}; };
  const auto options = [] {
    auto made = patient();
    made.when = cairn::policies::every_steps{2};
    return made;
  };
  CHECK(at_each(3, [&](const cairn::groups::threads& group) {
          cairn::checkpointer run(places(), options(), group);
          for (std::uint64_t step = 1; step <= 4; ++step) static_cast<void>(run.step(trained(step), {.step = step}));
          run.wait();
          run.save(trained(5), {.step = 5});
          require(run.stats().levels.size() == (group.rank() == 0 ? 1 : 0), "another rank copies");
        }) == std::vector<std::string>(3));
  CHECK(steps_in(cairn::stores::directory(scratch.path("far"))).back() == 5);
  fs::remove_all(scratch.path("near"));
  CHECK(at_each(2, [&](const cairn::groups::threads& group) {
          cairn::checkpointer run(places(), options(), group);
          trainer state;
          const auto report = run.restore(state);
          require(report && report->step == 5 && report->level == 1, "another checkpoint");
          require(state == trained(5), "another state");
          run.save(trained(6), {.step = 6});
        }) == std::vector<std::string>(2));
  CHECK(steps_in(cairn::stores::directory(scratch.path("far"))).back() == 6);
}

TEST_CASE("if the far place fails, all ranks of a group throw the same") {
  const sample::scratch scratch;
  const auto thrown = at_each(2, [&](const cairn::groups::threads& group) {
    cairn::any_store far = cairn::stores::directory(scratch.path("far"));
    far = hooked_store{far, {.before_write = [] { cairn::fail(errc::io, {"the network is down"}); }}};
    cairn::checkpointer run(cairn::levels{scratch.path("near"), far}, patient(), group);
    run.save(trained(1), {.step = 1});
  });
  CHECK_THAT(common(thrown), Catch::Matchers::ContainsSubstring("the network is down"));
  CHECK(steps_in(cairn::stores::directory(scratch.path("near"))) == steps{1});
}

TEST_CASE("killed at any call of a place, with its disk or without it, a run loses no save that has returned") {
  for (const bool is_lost : {false, true})
    for (int point = 1;; ++point) {
      CAPTURE(is_lost, point);
      const sample::scratch scratch;
      const auto near = scratch.path("near"), far = scratch.path("far");
      tests::channel out;
      const auto child = tests::start_child(out, [&](const tests::channel& to) {
        std::atomic<int> left = point;
        const auto dies = [&] {
          if (--left == 0) ::_exit(9);
        };
        const store_hooks by{.before_write = dies, .after_write = dies, .before_other = dies};
        cairn::checkpointer run(cairn::levels{hooked_store{cairn::stores::directory(near), by},
                                              cairn::level{hooked_store{cairn::stores::directory(far), by}}},
                                {.keep_last = 1});
        for (std::uint64_t step = 1; step <= 3; ++step) {
          run.save(trained(step), {.step = step});
          to.send("x");
        }
      });
      const auto saved = out.receive_all().size();
      int status = 0;
      ::waitpid(child, &status, 0);
      if (is_lost) fs::remove_all(near);
      std::uint64_t step = 0;
      {
        cairn::checkpointer run(cairn::levels{near, far}, {.keep_last = 1});
        trainer state;
        if (const auto report = run.restore(state)) step = report->step;
        REQUIRE(step >= saved);
        if (step > 0) REQUIRE(state == trained(step));
        run.save(trained(step + 1), {.step = step + 1});
      }
      for (const auto& place : {near, far})
        for (const auto& entry : fs::directory_iterator(place))
          REQUIRE(entry.path().filename() == (cairn::detail::checkpoint_name(step + 1)));
      if (WEXITSTATUS(status) == 0) {
        CHECK(point > 20);
        break;
      }
    }
}

TEST_CASE("where near deltas are merged into a whole checkpoint, the far chain stays short, too") {
  two_places at;
  auto run = at.run({.keep_last = 1,
                     .codecs = {{"*", cairn::codecs::lossless{.xor_parent = true}}},
                     .chain = {.merge = cairn::merging{.every = 3, .to_whole = true}}});
  for (std::uint64_t step = 1; step <= 20; ++step) run.save(moved(step), {.step = step});
  run.wait();
  CHECK(steps_in(at.far).size() <= 5);
  trainer state;
  CHECK(cairn::load(at.far, state).links <= 5);
  CHECK(state == moved(20));
}

TEST_CASE("a save gives the far place all links of the chain that it has lost") {
  two_places at;
  auto run = at.run({.codecs = {{"*", cairn::codecs::lossless{.xor_parent = true}}}});
  for (std::uint64_t step = 1; step <= 4; ++step) run.save(moved(step), {.step = step});
  fs::remove_all(at.scratch.path("far/step-000000001"));  // as by a lifecycle rule
  run.save(moved(5), {.step = 5});
  trainer state;
  cairn::load(at.far, state);
  CHECK(state == moved(5));
}

TEST_CASE("a checkpoint whose shards have gone at the far place is copied there again") {
  two_places at;
  auto run = at.run({.codecs = {{"*", cairn::codecs::lossless{.xor_parent = true}}}});
  run.save(moved(1), {.step = 1});
  for (const auto& each : fs::directory_iterator(at.scratch.path("far/step-000000001")))
    if (each.path().extension() == ".safetensors") fs::remove(each.path());
  CHECK(run.save(moved(2), {.step = 2}).is_delta);
  trainer state;
  cairn::load(at.far, state);
  CHECK(state == moved(2));
}

TEST_CASE("a delta is built on what the first place has, not on what another one has") {
  two_places at;
  auto run = at.run({.codecs = {{"*", cairn::codecs::lossless{.xor_parent = true}}}});
  run.save(moved(1), {.step = 1});
  run.save(moved(2), {.step = 2});
  fs::remove_all(at.scratch.path("near/step-000000001"));
  CHECK_FALSE(run.save(moved(3), {.step = 3}).is_delta);
  trainer state;
  cairn::load(at.near, state);
  CHECK(state == moved(3));
}

TEST_CASE("an index that cannot be read does not stop the run where the checkpoint is whole elsewhere") {
  two_places at;
  {
    auto run = at.run();
    run.save(trained(1), {.step = 1, .loss = 0.5});
    run.save(trained(2), {.step = 2, .loss = 0.25});
    run.save(trained(3), {.step = 3, .loss = 9});
  }
  at.near = hooked_store{at.near, {.before_open = [](std::string_view name, std::string_view file) {
                           if ((name == "step-000000002" || name == "step-000000003") && file == "index.json")
                             cairn::fail(errc::unreadable, {"a bad sector"});
                         }}};
  auto run = at.run();
  trainer state;
  CHECK(run.restore_best(state)->step == 2);
  CHECK(state == trained(2));
  CHECK(run.restore(state)->step == 3);
  CHECK_NOTHROW(run.save(trained(4), {.step = 4}));
}

TEST_CASE("what was just copied stays at the far place, whatever else is there") {
  two_places at;
  {
    auto run = at.run();
    run.save(trained(10), {.step = 10});
    run.save(trained(20), {.step = 20});
  }
  fs::remove_all(at.scratch.path("near"));
  two_places::damage(at.scratch.path("far/step-000000020"));
  {
    auto run = at.run({.keep_last = 1});
    trainer state;
    CHECK(run.restore(state)->step == 10);
    run.save(trained(11), {.step = 11});
  }
  fs::remove_all(at.scratch.path("near"));
  trainer state;
  CHECK(at.run().restore(state)->step == 11);
  CHECK(state == trained(11));
}

TEST_CASE("a save is not limited in its rate, and its copy goes before an older one") {
  two_places at;
  at.how.max_bytes_per_second = 1;
  auto run = at.run({.when = cairn::policies::every_steps{1}});
  run.step(trained(1, 50'000), {.step = 1}).save.wait();
  run.save(trained(2, 50'000), {.step = 2});
  CHECK(steps_in(at.far) == steps{2});
}

TEST_CASE("another checkpoint of the same name is replaced by the one that is saved") {
  two_places at;
  cairn::checkpointer(at.far).save(trained(1, 90), {.step = 1});
  fs::create_directory(at.scratch.path("near"));
  cairn::save(at.near, "step-000000001", trained(1), {.step = 1});
  auto run = at.run();
  trainer state;
  run.restore(state);
  run.save(trained(1, 7), {.step = 1});
  CHECK(sample::get(at.far, "step-000000001", "index.json") == sample::get(at.near, "step-000000001", "index.json"));
}

TEST_CASE("the far place never has a checkpoint without those that it is built on") {
  two_places at;
  std::atomic<int> left = 0;
  tests::gated_store gated{.inner = at.far, .refuses = [&](std::string_view) { return left-- <= 0; }};
  cairn::checkpointer run(
      cairn::levels{at.near, gated},
      {.when = cairn::policies::every_steps{1}, .codecs = {{"*", cairn::codecs::lossless{.xor_parent = true}}}});
  for (std::uint64_t step = 1; step <= 3; ++step) run.step(moved(step), {.step = step}).save.wait();
  left = 1;
  CHECK_THROWS_AS(run.save(moved(4), {.step = 4}), cairn::error);
  CHECK(steps_in(at.far) == steps{1});
  left = 100;
  run.save(moved(5), {.step = 5});
  CHECK(steps_in(at.far) == steps{1, 2, 3, 4, 5});
}

TEST_CASE("a copy reads no index at the far place that an earlier one has read") {
  two_places at;
  std::vector<std::string> opened;
  at.far = tests::gated_store{
      .inner = at.far, .opened = [&](std::string_view name, std::string_view /*file*/) { opened.emplace_back(name); }};
  auto run = at.run({.keep_last = 10});
  for (std::uint64_t step = 1; step <= 5; ++step) run.save(trained(step), {.step = step});
  CHECK(opened == at.near.list());
}

TEST_CASE("a checkpoint that is replaced at the far place counts there as it is now") {
  two_places at;
  auto run = at.run({.keep_last = 1, .codecs = {{"*", cairn::codecs::lossless{.xor_parent = true}}}});
  run.save(moved(1), {.step = 1});
  CHECK(run.save(moved(2), {.step = 2}).is_delta);
  CHECK(run.remove_after(1) == 1);
  CHECK_FALSE(run.save(moved(2), {.step = 2}).is_delta);
  CHECK(steps_in(at.far) == steps{2});  // nothing needs step 1 any more
}

TEST_CASE("a checkpoint is removed at the far place first: what is left after a crash is nearer") {
  two_places at;
  std::vector<std::string> removed;
  const auto noting = [&](const char* name, const cairn::any_store& place) {
    return tests::gated_store{.inner = place, .keeps = [&removed, name](std::string_view) {
                                removed.emplace_back(name);
                                return false;
                              }};
  };
  cairn::checkpointer run(cairn::levels{noting("near", at.near), noting("far", at.far)});
  run.save(trained(1), {.step = 1});
  removed.clear();
  CHECK(run.remove_after(0) == 1);
  CHECK(removed == std::vector<std::string>{"far", "near"});
}

TEST_CASE("after a copy that has failed the next one does not wait for the period") {
  two_places at;
  at.how.every = hour;
  std::atomic<bool> is_away = true;
  at.far = tests::gated_store{.inner = at.far, .refuses = [&](std::string_view) { return is_away.load(); }};
  auto run = at.run({.when = cairn::policies::every_steps{1}});
  run.step(trained(1), {.step = 1}).save.wait();
  while (run.stats().levels[0].failed == 0) std::this_thread::yield();
  is_away = false;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  for (std::uint64_t step = 2; run.stats().levels[0].copies == 0 && std::chrono::steady_clock::now() < end; ++step)
    run.step(trained(step), {.step = step}).save.wait();
  CHECK(run.stats().levels[0].copies == 1);
}

TEST_CASE("a save in the trainer's thread takes the options of work in the background") {
  two_places at;
  CHECK_NOTHROW(at.run({.asynchronous = false, .on_destruction = cairn::when_destroyed::cancel}));
}

TEST_CASE("ranks that name other places are told so") {
  const sample::scratch scratch;
  const bool has_none = GENERATE(false, true);
  const auto thrown = at_each(2, [&](const cairn::groups::threads& group) {
    cairn::any_store place = cairn::levels{scratch.path("near"), scratch.path(group.rank() == 0 ? "far" : "farther")};
    if (has_none && group.rank() == 1) place = cairn::stores::directory(scratch.path("near"));
    cairn::checkpointer run(place, patient(), group);
    run.save(trained(1), {.step = 1});
  });
  CHECK_THAT(common(thrown), Catch::Matchers::ContainsSubstring("the ranks differ in the options"));
}

TEST_CASE("a signal at one rank ends the wait for the far place at all ranks") {
  const sample::scratch scratch;
  tests::gated_store gated{.inner = cairn::stores::directory(scratch.path("far"))};
  gated.entrance->close();
  std::atomic<int> stopped{0};
  CHECK(at_each(2, [&](const cairn::groups::threads& group) {
          auto options = patient();
          if (group.rank() == 1) {
            options.preempt = {SIGUSR2};
            options.preempt_deadline = std::chrono::milliseconds(200);
          }
          cairn::checkpointer run(cairn::levels{scratch.path("near"), gated}, options, group);
          if (group.rank() == 1) std::raise(SIGUSR2);
          for (std::uint64_t step = 1; !run.step(trained(step), {.step = step}).stop; ++step) {
          }
          if (++stopped == 2) gated.entrance->open();
        }) == std::vector<std::string>(2));
}

TEST_CASE("where no thread can be started for the copies, a save throws, and the next one makes them") {
  two_places at;
  pthread_attr_t usual{}, huge{};
  REQUIRE(::pthread_getattr_default_np(&usual) == 0);
  REQUIRE(::pthread_getattr_default_np(&huge) == 0);
  REQUIRE(::pthread_attr_setstacksize(&huge, std::size_t{1} << 60) == 0);
  cairn::checkpointer run(cairn::levels{at.near, at.far}, {.on_event = [&](const cairn::event& what) {
                            if (what.what == kind::written) ::pthread_setattr_default_np(&huge);
                          }});
  const auto failure = sample::failure_of([&] { run.save(trained(1), {.step = 1}); });
  REQUIRE(::pthread_setattr_default_np(&usual) == 0);
  CHECK(failure.says("cannot start a thread"));
  CHECK(steps_in(at.near) == steps{1});
  huge = usual;
  run.save(trained(2), {.step = 2});
  CHECK(steps_in(at.far) == steps{2});
}
