// SPDX-License-Identifier: MIT
#include "cairn/checkpointer.hpp"

#include <sys/resource.h>

#include "cairn/inspect.hpp"
#include "cairn/save.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/shard.hpp"
#include "catch.hpp"
#include "child.hpp"
#include "gate.hpp"
#include "hooked_store.hpp"
#include "hostile/files.hpp"
#include "trainer.hpp"
#include "in_scratch.hpp"

namespace fs = std::filesystem;
using cairn::checkpointer;
using cairn::errc;
using cairn::detail::checkpoint_name;
using tests::in_scratch;
using tests::trained;
using tests::trainer;
using kind = cairn::event::kind;

static_assert(std::is_nothrow_destructible_v<checkpointer>);
static_assert(std::is_move_constructible_v<checkpointer> && std::is_move_assignable_v<checkpointer>);

namespace {

using steps = std::vector<std::uint64_t>;

/// Steps of the published checkpoints of a directory.
steps steps_in(const std::string& root) { return sample::steps_in(cairn::stores::directory(root)); }

void save_all(checkpointer& checkpoints, const steps& at) {
  for (const auto step : at) checkpoints.save(trained(step), {.step = step});
}

/// Everything that an observer hears, as one line per event.
struct heard {
  std::vector<std::string> lines;

  void operator()(const cairn::event& e) {
    auto line = std::string(cairn::name(e.what)) + " " + fs::path(e.checkpoint).filename().string();
    if (lines.empty() || e.what != kind::progress || lines.back() != line) lines.push_back(std::move(line));
  }
};

std::string shard_of(const std::string& root, std::uint64_t step) {
  return root + "/" + checkpoint_name(step) + "/" + cairn::detail::shard_file(0, 1);
}

void flip(const std::string& path, std::size_t at) {
  auto bytes = sample::slurp(path);
  bytes.at(at) = static_cast<char>(bytes.at(at) ^ 4);
  sample::spill(path, bytes);
}

/// A way to spoil the checkpoint of a step, and what is then said of it.
struct damage {
  const char* name;
  std::function<void(const std::string& root, std::uint64_t step)> act;
  std::string says;
};

std::vector<damage> damages() {
  return {
      {"a truncated shard", [](auto& root, auto step) { fs::resize_file(shard_of(root, step), 4500); }, "4500 bytes"},
      {"a longer shard", [](auto& root, auto step) { fs::resize_file(shard_of(root, step), 1 << 20); }, "1048576"},
      {"a flipped byte of data", [](auto& root, auto step) { flip(shard_of(root, step), 4200); }, "checksum"},
      {"a flipped byte of a header", [](auto& root, auto step) { flip(shard_of(root, step), 99); }, "the header"},
      {"a missing shard", [](auto& root, auto step) { fs::remove(shard_of(root, step)); }, "not there"},
      {"a flipped byte of the index",
       [](auto& root, auto step) { flip(root + "/" + checkpoint_name(step) + "/index.json", 150); }, "index.json"},
      {"an empty index",
       [](auto& root, auto step) { fs::resize_file(root + "/" + checkpoint_name(step) + "/index.json", 0); },
       "index.json"},
  };
}

struct run_in_scratch : in_scratch {
  const std::string root = scratch.path("run");
};

}  // namespace

TEST_CASE_METHOD(in_scratch, "the first run has nothing to restore, touches nothing, and the second resumes") {
  auto state = trained(1);
  {
    checkpointer checkpoints(scratch.path("run"));
    CHECK_FALSE(checkpoints.restore(state).has_value());
    CHECK(state == trained(1));
    CHECK_FALSE(fs::exists(scratch.path("run")));
    const auto saved = checkpoints.save(trained(5), {.step = 5, .loss = 0.5, .metrics = {{"accuracy", 0.75}}});
    CHECK(saved.path == scratch.path("run/step-000000005"));
    checkpoints.wait();
  }
  const auto report = checkpointer(scratch.path("run")).restore(state);
  REQUIRE(report.has_value());
  CHECK(state == trained(5));
  CHECK(report->step == 5);
  CHECK(report->path == scratch.path("run/step-000000005"));
  CHECK(report->metrics == std::map<std::string, double>{{"accuracy", 0.75}, {"loss", 0.5}});
  CHECK(report->skipped.empty());
  CHECK(report->loaded.size() == 7);
}

TEST_CASE_METHOD(in_scratch, "it saves when its policy says so, also after a restore") {
  const auto run = [&](cairn::any_policy when, std::uint64_t from, std::uint64_t to) {
    steps saved;
    checkpointer checkpoints(scratch.path("run"), {.when = std::move(when), .on_busy = cairn::when_busy::wait});
    trainer state;
    checkpoints.restore(state);
    for (auto step = from; step <= to; ++step) {
      const auto outcome = checkpoints.step(trained(step), {.step = step});
      CHECK_FALSE(outcome.skipped);
      CHECK_FALSE(outcome.stop);
      CHECK(outcome.started == (outcome.stall_seconds > 0));
      if (outcome.started) saved.push_back(step);
    }
    return saved;
  };
  CHECK(run(cairn::policies::every_steps{4}, 1, 9) == steps{4, 8});
  CHECK(run(cairn::policies::every_steps{4}, 9, 13) == steps{12});
  CHECK(run(cairn::policies::every_steps{0}, 13, 20).empty());
  CHECK(run(cairn::policies::every{std::chrono::hours{1}}, 13, 20).empty());
  CHECK(run(cairn::policies::every_steps{1}, 12, 15) == steps{13, 14, 15});
  CHECK(steps_in(scratch.path("run")) == steps{4, 8, 12, 13, 14, 15});
}

TEST_CASE("a signal ends the wait for the running save") {
  const tests::gated_store gated;
  checkpointer checkpoints(gated, {.when = cairn::policies::every_steps{1},
                                   .on_event =
                                       [](const cairn::event& what) {
                                         if (what.what == cairn::event::kind::hanging) std::raise(SIGUSR1);
                                       },
                                   .on_busy = cairn::when_busy::wait,
                                   .hang_timeout = std::chrono::milliseconds(1),
                                   .preempt = {SIGUSR1}});
  gated.entrance->close();
  CHECK(checkpoints.step(trained(1), {.step = 1}).started);
  gated.entrance->wait_for_arrival();
  const auto waited = checkpoints.step(trained(2), {.step = 2});
  CHECK(waited.skipped);
  CHECK_FALSE(waited.stop);
  gated.entrance->open();
  CHECK(checkpoints.step(trained(3), {.step = 3}).stop);
  CHECK(checkpoints.latest() == 3);
}

TEST_CASE_METHOD(in_scratch, "a policy sees the run: steps, the loss, what was saved last") {
  struct records {
    std::vector<cairn::moment>* all;
    bool should_save(const cairn::moment& now) const {
      all->push_back(now);
      return now.step == 2;
    }
  };
  std::vector<cairn::moment> seen;
  checkpointer checkpoints(scratch.path("run"), {.when = records{&seen}});
  std::ignore = checkpoints.step(trained(1), {.step = 1, .loss = 0.5});
  std::ignore = checkpoints.step(trained(2), {.step = 2});
  std::ignore = checkpoints.step(trained(3), {.step = 3, .loss = 0.25});
  REQUIRE(seen.size() == 3);
  CHECK(seen[0].step == 1);
  CHECK(seen[0].loss == 0.5);
  CHECK(seen[0].saved_step == 0);
  CHECK(seen[0].saved_seconds == 0);
  CHECK_FALSE(seen[1].loss.has_value());
  CHECK(seen[2].saved_step == 2);
  CHECK(seen[2].saved_seconds >= seen[1].seconds);
  CHECK(seen[2].seconds >= seen[2].saved_seconds);
}

TEST_CASE_METHOD(in_scratch, "what any rule keeps is kept, the rest goes") {
  const auto run = [&](cairn::checkpointer_options options) {
    fs::remove_all(scratch.path("run"));
    options.durable = false;
    checkpointer checkpoints(scratch.path("run"), std::move(options));
    const double losses[]{9, 5, 1, 7, 2, 8, 3, 6, 4};
    for (std::uint64_t step = 1; step <= 9; ++step)
      checkpoints.save(trained(step),
                       {.step = step, .loss = losses[step - 1], .metrics = {{"accuracy", losses[step - 1]}}});
    return steps_in(scratch.path("run"));
  };
  CHECK(run({}) == steps{1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(run({.keep_last = 2}) == steps{8, 9});
  CHECK(run({.keep_last = 1}) == steps{9});
  CHECK(run({.keep_best = cairn::keep_best_rule{}}) == steps{3, 9});
  CHECK(run({.keep_best = cairn::keep_best_rule{.count = 2}}) == steps{3, 5, 9});
  CHECK(run({.keep_best = cairn::keep_best_rule{.metric = "accuracy", .lower_is_better = false}}) == steps{1, 9});
  CHECK(run({.keep_every = 4}) == steps{4, 8, 9});
  CHECK(run({.keep_last = 1, .pinned = {2, 6}}) == steps{2, 6, 9});
  CHECK(run({.keep_last = 2, .keep_best = cairn::keep_best_rule{}, .keep_every = 4, .pinned = {1, 99}}) ==
        steps{1, 3, 4, 8, 9});
  CHECK(run({.pinned = {2}}) == steps{1, 2, 3, 4, 5, 6, 7, 8, 9});
}

TEST_CASE_METHOD(in_scratch, "a later process counts the checkpoints of the earlier ones, and their metrics") {
  for (const std::uint64_t step : {1U, 2U, 3U, 4U}) {
    checkpointer checkpoints(scratch.path("run"), {.keep_last = 2, .keep_best = cairn::keep_best_rule{}});
    checkpoints.save(trained(step), {.step = step, .loss = step == 1 ? 0.1 : 0.5});
  }
  CHECK(steps_in(scratch.path("run")) == steps{1, 3, 4});
}

TEST_CASE_METHOD(in_scratch, "metrics that are no numbers are never the best, and come back") {
  checkpointer checkpoints(scratch.path("run"), {.keep_best = cairn::keep_best_rule{}});
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  checkpoints.save(trained(1), {.step = 1, .loss = -infinity});
  checkpoints.save(trained(2), {.step = 2, .loss = 5});
  checkpoints.save(trained(3), {.step = 3, .loss = nan});
  CHECK(steps_in(scratch.path("run")) == steps{2, 3});
  trainer state;
  const auto report = checkpoints.restore(state);
  REQUIRE(report);
  CHECK(report->metrics.at("loss") != report->metrics.at("loss"));
}

TEST_CASE_METHOD(in_scratch, "the plan of retention removes nothing, and is what the next save does") {
  {
    checkpointer keeps_all(scratch.path("run"));
    save_all(keeps_all, {1, 2, 3, 4});
    CHECK(keeps_all.retention_plan().empty());
  }
  checkpointer checkpoints(scratch.path("run"), {.keep_last = 2, .keep_every = 3});
  const auto plan = checkpoints.retention_plan();
  REQUIRE(plan.size() == 2);
  CHECK(plan[0].name == checkpoint_name(2));
  CHECK(plan[0].reason.find("not one of the last 2, nor the first from a multiple of 3 steps on") != std::string::npos);
  CHECK(plan[1].name == checkpoint_name(1));
  CHECK(steps_in(scratch.path("run")) == steps{1, 2, 3, 4});
  save_all(checkpoints, {5});
  CHECK(steps_in(scratch.path("run")) == steps{3, 4, 5});
  CHECK(checkpoints.retention_plan().empty());
}

TEST_CASE_METHOD(run_in_scratch, "files of others are never deleted, in the root nor in a checkpoint") {
  const std::vector<std::string> others{"notes.txt",
                                        "plots/loss.png",
                                        "step-1/index.json",
                                        "best/model.bin",
                                        ".hidden/x",
                                        "step-000000001/eval.json",
                                        "step-000000002.bak",
                                        "step-000000001/sub/y",
                                        "step-000000007/mine.txt",
                                        ".tmp-mine/z",
                                        ".tmp-mine/index.json",
                                        ".tmp-mine/shard-00000-of-00001.safetensors",
                                        ".old-mine/index.json",
                                        ".old-step-000000009/index.json",
                                        "shard-00000-of-00001.safetensors"};
  checkpointer checkpoints(root, {.keep_last = 1});
  save_all(checkpoints, {1});
  for (const auto& file : others) {
    fs::create_directories(fs::path(root + "/" + file).parent_path());
    sample::spill(root + "/" + file, file);
  }
  save_all(checkpoints, {2, 3, 4});
  trainer state;
  checkpoints.restore(state);
  CHECK(state == trained(4));
  for (const auto& file : others) {
    INFO(file);
    CHECK(sample::slurp(root + "/" + file) == file);
  }
  CHECK_FALSE(fs::exists(root + "/step-000000001/index.json"));
  CHECK_FALSE(fs::exists(root + "/step-000000002"));

  const auto failure = sample::failure_of([&] { save_all(checkpoints, {7}); });
  CHECK(failure.code == errc::invalid);
  CHECK(failure.says(root + "/step-000000007 is no checkpoint and holds \"mine.txt\""));
}

TEST_CASE_METHOD(in_scratch, "a place with an index.json of somebody else is one of a first run") {
  fs::create_directories(scratch.path("html"));
  sample::spill(scratch.path("html/index.json"), R"({"name": "a web project"})");
  checkpointer checkpoints(scratch.path());
  trainer state;
  CHECK_FALSE(checkpoints.restore(state));
  save_all(checkpoints, {1});
  CHECK(checkpoints.restore(state).value().step == 1);
  fs::remove_all(scratch.path(checkpoint_name(1)));
  CHECK_FALSE(checkpoints.restore(state));
  CHECK(sample::failure_of([&] { static_cast<void>(cairn::open(scratch.path())); }).code == errc::not_found);
}

TEST_CASE("a damaged newest checkpoint: the one before is restored, and retention counts only good ones") {
  for (const auto& [name, act, says] : damages()) {
    INFO(name);
    const sample::scratch scratch;
    const auto root = scratch.path("run");
    {
      checkpointer checkpoints(root);
      save_all(checkpoints, {1, 2, 3, 4});
    }
    act(root, 3);
    act(root, 4);
    heard events;
    checkpointer checkpoints(root, {.keep_last = 2, .on_event = std::ref(events)});
    trainer state;
    const auto report = checkpoints.restore(state);
    REQUIRE(report);
    CHECK(report->step == 2);
    CHECK(state == trained(2));
    REQUIRE(report->skipped.size() == 2);
    CHECK(report->skipped[0].checkpoint == checkpoint_name(4));
    CHECK(report->skipped[1].checkpoint == checkpoint_name(3));
    CHECK(report->skipped[0].reason.find(says) != std::string::npos);
    CHECK(report->skipped[0].reason.find(root + "/" + checkpoint_name(4)) != std::string::npos);
    CHECK(events.lines ==
          std::vector<std::string>{"fell back step-000000004", "fell back step-000000003", "restored step-000000002"});

    REQUIRE(checkpoints.retention_plan().empty());  // of good ones there are two
    save_all(checkpoints, {3});                     // trained again: now it is good, and counts
    CHECK(steps_in(root) == steps{2, 3, 4});
    save_all(checkpoints, {5});
    CHECK(steps_in(root) == steps{3, 4, 5});
    REQUIRE(checkpointer(root).restore(state));
    CHECK(state == trained(5));
  }
}

TEST_CASE_METHOD(run_in_scratch, "a directory without an index is no checkpoint: never listed, and saved over") {
  checkpointer checkpoints(root, {.keep_last = 1});
  save_all(checkpoints, {1, 2});
  fs::create_directories(root + "/step-000000003");
  fs::copy(shard_of(root, 2), shard_of(root, 3));
  trainer state;
  const auto report = checkpoints.restore(state);
  REQUIRE(report);
  CHECK(report->step == 2);
  CHECK(report->skipped.empty());
  save_all(checkpoints, {3});
  CHECK(steps_in(root) == steps{3});
  checkpoints.restore(state);
  CHECK(state == trained(3));
}

TEST_CASE("every checkpoint damaged: an error that names the newest, the state as it was") {
  for (const auto& [name, act, says] : damages()) {
    INFO(name);
    const sample::scratch scratch;
    const auto root = scratch.path("run");
    heard events;
    checkpointer checkpoints(root, {.keep_last = 2, .on_event = std::ref(events)});
    save_all(checkpoints, {1, 2});
    act(root, 1);
    act(root, 2);
    auto state = trained(9);
    events.lines.clear();
    const auto failure = sample::failure_of([&] { checkpoints.restore(state); });
    CHECK(failure.code == errc::corrupt);
    CHECK(failure.says("none of the 2 checkpoints in " + root));
    CHECK(failure.says(root + "/" + checkpoint_name(2)));
    CHECK(failure.says(says));
    CHECK(state == trained(9));
    CHECK(events.lines == std::vector<std::string>{"fell back step-000000002", "fell back step-000000001"});
    save_all(checkpoints, {3});
    checkpoints.restore(state);
    CHECK(state == trained(3));
  }
}

TEST_CASE("a checkpoint that does not fit the state is an error, not a reason to take an older one") {
  const sample::scratch scratch;
  checkpointer checkpoints(scratch.path("run"));
  checkpoints.save(trained(1), {.step = 1});
  checkpoints.save(std::vector<float>{1, 2}, {.step = 2});
  auto state = trained(9);
  const auto failure = sample::failure_of([&] { checkpoints.restore(state); });
  CHECK(failure.code == errc::mismatch);
  CHECK(failure.says(scratch.path("run/step-000000002")));
  CHECK(state == trained(9));
}

TEST_CASE("nor is one whose keys, elements or texts the types of the state do not take") {
  struct layer {
    std::vector<float> w{1};
  };
  const auto check = [](const auto& saved, auto state) {
    const sample::scratch scratch;
    checkpointer checkpoints(scratch.path("run"));
    checkpoints.save(state, {.step = 1});
    checkpoints.save(saved, {.step = 2});
    const auto failure = sample::failure_of([&] { checkpoints.restore(state); });
    CHECK(failure.code == errc::mismatch);
    CHECK(failure.says(scratch.path("run/step-000000002")));
    CHECK(failure.says("leave"));
    CHECK(failure.says("filter"));
  };
  check(std::map<std::string, layer>{{"a", {}}}, std::map<int, layer>{});
  check(std::multiset<int>{1, 1}, std::set<int>{});
  check(std::vector<int>{1, 1}, std::set<int>{});
  check(std::normal_distribution<>(), std::bernoulli_distribution());
}

TEST_CASE_METHOD(in_scratch, "one written by a newer version is an error, not a reason to take an older one") {
  checkpointer checkpoints(scratch.path("run"));
  save_all(checkpoints, {1, 2});
  const auto path = scratch.path("run/step-000000002/index.json");
  sample::spill(path, hostile::of_newer_version(sample::slurp(path)));
  auto state = trained(9);
  const auto failure = sample::failure_of([&] { checkpoints.restore(state); });
  CHECK(failure.code == errc::unsupported);
  CHECK(failure.says(path));
  CHECK(state == trained(9));
}

TEST_CASE_METHOD(in_scratch, "events of a save come in order") {
  std::vector<cairn::event> events;
  checkpointer checkpoints(scratch.path("run"),
                           {.keep_last = 1,
                            .codecs = {{"*", cairn::codecs::raw{}}},  // so that as much is written as there is
                            .on_event = [&](const cairn::event& e) { events.push_back(e); }});
  save_all(checkpoints, {1});
  events.clear();
  const auto report = checkpoints.save(trained(2, 500'000), {.step = 2});
  REQUIRE(events.size() > 5);
  const auto& first = events.front();
  const auto& encoded = events[1];
  const auto& written = events[events.size() - 3];
  const auto& published = events[events.size() - 2];
  const auto& pruned = events.back();
  CHECK(first.what == kind::started);
  CHECK(first.step == 2);
  CHECK(first.checkpoint == report.path);
  CHECK(first.total > 6'000'000);
  CHECK(encoded.what == kind::encoded);
  CHECK(encoded.bytes == first.total);
  CHECK(encoded.total == first.total);
  CHECK(written.what == kind::written);
  CHECK(written.bytes > first.total);
  CHECK(written.bytes < report.bytes);
  CHECK(written.seconds > 0);
  std::uint64_t bytes = 0;
  for (std::size_t i = 2; i + 3 < events.size(); ++i) {
    CHECK(events[i].what == kind::progress);
    CHECK(events[i].step == 2);
    CHECK(events[i].bytes > bytes);
    CHECK(events[i].total == first.total);
    bytes = events[i].bytes;
  }
  CHECK(bytes == first.total);
  CHECK(published.what == kind::published);
  CHECK(published.checkpoint == report.path);
  CHECK(published.bytes == report.bytes);
  CHECK(published.seconds >= report.seconds);
  CHECK(pruned.what == kind::pruned);
  CHECK(pruned.checkpoint == fs::path(report.path).parent_path() / checkpoint_name(1));
  CHECK(pruned.step == 1);
  CHECK(pruned.bytes > 4096);
  CHECK(pruned.message.find("not one of the last 1") != std::string::npos);

  trainer state;
  events.clear();
  checkpoints.restore(state);
  REQUIRE(events.size() == 1);
  CHECK(events[0].what == kind::restored);
  CHECK(events[0].step == 2);
  CHECK(events[0].bytes >= 6'000'000);
}

TEST_CASE_METHOD(in_scratch, "an observer that throws disturbs nothing") {
  checkpointer checkpoints(scratch.path("run"),
                           {.keep_last = 1, .on_event = [](const cairn::event&) { throw std::runtime_error("no"); }});
  save_all(checkpoints, {1, 2});
  CHECK(steps_in(scratch.path("run")) == steps{2});
  trainer state;
  REQUIRE(checkpoints.restore(state));
  CHECK(state == trained(2));
}

TEST_CASE_METHOD(run_in_scratch, "a save that fails is reported, leaves nothing, and the next one works") {
  heard events;
  checkpointer checkpoints(
      root,
      {.keep_last = 1, .when = cairn::policies::every_steps{1}, .on_event = std::ref(events), .asynchronous = false});
  save_all(checkpoints, {1});
  sample::spill(root + "/step-000000002", "in the way");
  events.lines.clear();
  const auto failure = sample::failure_of([&] { std::ignore = checkpoints.step(trained(2), {.step = 2}); });
  CHECK(failure.code == errc::io);
  CHECK(failure.says(root + "/step-000000002"));
  CHECK(events.lines == std::vector<std::string>{"started step-000000002", "failed step-000000002"});
  CHECK(steps_in(root) == steps{1});
  CHECK(checkpoints.step(trained(3), {.step = 3}).started);
  CHECK(steps_in(root) == steps{3});
  CHECK(std::distance(fs::directory_iterator(root), {}) == 3);  // with the lock
}

TEST_CASE("a checkpoint that cannot be removed does not make the save fail") {
  bool sticks = true;
  tests::gated_store store;
  store.keeps = [&](std::string_view) { return sticks; };
  heard events;
  checkpointer checkpoints(store, {.keep_last = 1, .on_event = std::ref(events)});
  save_all(checkpoints, {1});
  events.lines.clear();
  CHECK_NOTHROW(save_all(checkpoints, {2}));
  CHECK(events.lines == std::vector<std::string>{"started step-000000002", "encoded step-000000002",
                                                 "progress step-000000002", "written step-000000002",
                                                 "published step-000000002", "failed step-000000001"});
  sticks = false;
  save_all(checkpoints, {3});
  CHECK(checkpoints.store().list() == std::vector<std::string>{checkpoint_name(3)});
}

TEST_CASE("from the first save on the place is its own, also against other processes, until it goes") {
  const sample::scratch scratch;
  const auto root = scratch.path("run");
  std::optional<checkpointer> checkpoints(std::in_place, root);
  save_all(*checkpoints, {1});
  const auto other = [&] {
    checkpointer intruder(root);
    trainer state;
    if (!intruder.restore(state) || state != trained(1)) throw std::runtime_error("reading is free");
    save_all(intruder, {2});
  };
  const auto process = ::getpid();
  const auto of_child = tests::in_child(other), of_object = sample::failure_of(other);
  CHECK(of_child.code == errc::busy);
  CHECK(of_child.says("process " + std::to_string(process) + " saves to " + root));
  CHECK(of_object.code == errc::busy);
  CHECK(of_object.says("another object of this process saves to " + root));
  CHECK(steps_in(root) == steps{1});
  save_all(*checkpoints, {2});
  CHECK(steps_in(root) == steps{1, 2});
  checkpoints.reset();
  const auto now = tests::in_child([&] {
    checkpointer next(root);
    save_all(next, {3});
  });
  CHECK(now.sentence.empty());
  CHECK(steps_in(root) == steps{1, 2, 3});
}

TEST_CASE("in a forked child it does nothing: calls are refused, and its end leaves the parent's save alone") {
  const sample::scratch scratch;
  tests::gate forked, is_written;
  forked.close();
  is_written.close();
  const auto on_event = [&](const cairn::event& e) {
    if (e.what != kind::written) return;
    is_written.open();
    forked.pass();
  };
  std::optional<checkpointer> run(std::in_place, scratch.path("run"),
                                  cairn::checkpointer_options{.when = cairn::policies::every_steps{1},
                                                              .on_event = on_event,
                                                              .on_destruction = cairn::when_destroyed::cancel});
  const auto outcome = run->step(trained(1), {.step = 1});
  is_written.pass();  // the save has a hidden directory, its thread is in the observer
  trainer state;
  const std::vector<std::pair<const char*, std::function<void()>>> calls{
      {"step", [&] { std::ignore = run->step(state, {.step = 2}); }},
      {"save", [&] { run->save(state, {.step = 2}); }},
      {"restore", [&] { run->restore(state); }},
      {"restore_best", [&] { run->restore_best(state); }},
      {"wait", [&] { run->wait(); }},
      {"retention_plan", [&] { std::ignore = run->retention_plan(); }},
      {"stats", [&] { std::ignore = run->stats(); }},
      {"wait of a save", [&] { outcome.save.wait(); }},
      {"get of a save", [&] { std::ignore = outcome.save.get(); }},
      {"done of a save", [&] { std::ignore = outcome.save.done(); }}};
  for (const auto& [name, call] : calls) {
    INFO(name);
    const auto failure = tests::in_child([&] {
      ::alarm(20);  // ends a child that hangs
      call();
    });
    CHECK(failure.code == errc::invalid);
    CHECK(failure.says("belongs to the parent process"));
  }
  const auto end = [&](const std::function<void()>& act) {
    return tests::in_child([&] {
             ::alarm(20);
             act();
           })
        .sentence;
  };
  CHECK(end([&] {
          if (run->poll() || run->latest()) std::abort();
        }).empty());
  CHECK(end([&] { run.reset(); }).empty());
  CHECK(end([&] {
          run = checkpointer(scratch.path("other"));  // one of its own, in the place of the parent's
          run->save(trained(2), {.step = 2});
        }).empty());
  CHECK(steps_in(scratch.path("other")) == steps{2});
  const auto is_being_written = [](const fs::directory_entry& entry) {
    return entry.path().filename().string().starts_with(".tmp-" + checkpoint_name(1) + ".");
  };
  CHECK(std::any_of(fs::directory_iterator(scratch.path("run")), {}, is_being_written));
  forked.open();
  CHECK(outcome.save.get().bytes > 0);
  run->wait();
  CHECK(run->restore(state));
  CHECK(state == trained(1));
}

TEST_CASE_METHOD(in_scratch, "a forked child does not keep the lock of the parent's directory") {
  std::optional<checkpointer> run(std::in_place, scratch.path("run"));
  run->save(trained(1), {.step = 1});
  tests::channel alive, done;
  const pid_t child = tests::start_child(alive, [&](const tests::channel& out) {
    run.reset();
    out.send("!");
    done.close_writer();
    static_cast<void>(done.receive_all());
  });
  char byte = 0;
  REQUIRE(alive.receive(byte));
  run.reset();
  const auto save = [&] { checkpointer(scratch.path("run")).save(trained(2), {.step = 2}); };
  CHECK(sample::failure_of(save).sentence.empty());
  done.close_writer();
  ::waitpid(child, nullptr, 0);
}

TEST_CASE_METHOD(in_scratch, "a relative directory is that of the time of construction") {
  const auto failure = tests::in_child([&] {
    fs::current_path(scratch.path());
    fs::create_directory("elsewhere");
    checkpointer run("run");
    const auto first = run.save(trained(1), {.step = 1});
    if (first.path != fs::canonical("run").string() + "/" + checkpoint_name(1))
      cairn::fail(errc::invalid, {first.path});
    fs::current_path("elsewhere");
    run.save(trained(2), {.step = 2});
    if (run.steps().size() != 2) std::abort();
  });
  CHECK(failure.sentence.empty());
  CHECK(steps_in(scratch.path("run")) == steps{1, 2});
  CHECK(fs::is_empty(scratch.path("elsewhere")));
}

TEST_CASE_METHOD(in_scratch, "it moves, with what it owns and knows") {
  heard events;
  checkpointer first(scratch.path("run"), {.keep_last = 2, .on_event = std::ref(events)});
  save_all(first, {1});
  checkpointer second(std::move(first));
  save_all(second, {2});
  std::optional<checkpointer> third;
  third = std::move(second);
  save_all(*third, {3});
  CHECK(steps_in(scratch.path("run")) == steps{2, 3});
  CHECK(std::count(events.lines.begin(), events.lines.end(), "published step-000000003") == 1);
  third = checkpointer(scratch.path("other"));
  save_all(*third, {4});
  CHECK(steps_in(scratch.path("other")) == steps{4});
}

TEST_CASE("the loss of a step is the metric \"loss\", in place of another one of that name") {
  checkpointer checkpoints{cairn::stores::memory()};
  checkpoints.save(1, {.step = 1, .loss = 0.5, .metrics = {{"loss", 0.25}}});
  int state = 0;
  CHECK(checkpoints.restore(state)->metrics.at("loss") == 0.5);
}

TEST_CASE_METHOD(in_scratch, "the steps of a run, ascending, and its latest one") {
  checkpointer run(scratch.path("run"), {.when = cairn::policies::every_steps{1}});
  CHECK(run.steps().empty());
  CHECK_FALSE(run.latest());
  for (const std::uint64_t step : {3U, 20U, 1'000'000'000U}) run.save(trained(step), {.step = step});
  CHECK(run.steps() == std::vector<std::uint64_t>{3, 20, 1'000'000'000});
  CHECK(run.latest() == 1'000'000'000);
  cairn::save(scratch.path("run/other"), 1);  // not named by step
  CHECK(run.steps().size() == 3);
}

TEST_CASE("a run goes back to the checkpoint of a step, and to no other") {
  const cairn::stores::memory store;
  for (const std::uint64_t step : {1U, 2U, 3U}) checkpointer(store).save(trained(step), {.step = step});
  trainer state = trained(9);
  checkpointer run(store);
  const auto report = run.restore(state, {.step = 2});
  REQUIRE(report);
  CHECK(report->step == 2);
  CHECK(report->name == checkpoint_name(2));
  CHECK(state == trained(2));
  SECTION("an unknown step is an error that names the newest, and changes nothing") {
    const auto failure = sample::failure_of([&] { run.restore(state, {.step = 7}); });
    CHECK(failure.code == errc::not_found);
    CHECK(failure.says("there is no checkpoint of step 7 in memory; there are 3, the newest is step-000000003"));
    CHECK(state == trained(2));
  }
  SECTION("the best checkpoint is that of no given step") {
    const auto failure = sample::failure_of([&] { run.restore_best(state, std::nullopt, {.step = 2}); });
    CHECK(failure.code == errc::invalid);
    CHECK(failure.says("step is 2"));
    CHECK(state == trained(2));
  }
  SECTION("so it is in an empty place, where restoring the newest one is no error") {
    checkpointer first{cairn::stores::memory()};
    CHECK_FALSE(first.restore(state));
    CHECK_FALSE(first.restore_best(state));
    const auto failure = sample::failure_of([&] { first.restore(state, {.step = 0}); });
    CHECK(failure.code == errc::not_found);
    CHECK(failure.says("there is no checkpoint of step 0 in memory"));
  }
  SECTION("a damaged checkpoint of that step is an error too: no other one is tried") {
    const sample::scratch scratch;
    for (const std::uint64_t step : {1U, 2U}) checkpointer(scratch.path("run")).save(trained(step), {.step = step});
    sample::spill(scratch.path("run/step-000000002/index.json"), "{");
    CHECK(sample::failure_of([&] { checkpointer(scratch.path("run")).restore(state, {.step = 2}); }).code ==
          errc::corrupt);
    CHECK(checkpointer(scratch.path("run")).restore(state)->step == 1);
  }
}

TEST_CASE("a run goes back to its best checkpoint, by any metric; of equals to the newest") {
  const cairn::stores::memory store;
  {
    checkpointer run(store);
    run.save(trained(1), {.step = 1, .loss = 0.5, .metrics = {{"accuracy", 0.25}}});
    run.save(trained(2), {.step = 2, .loss = 0.125, .metrics = {{"accuracy", 0.75}}});
    run.save(trained(3), {.step = 3, .loss = 0.125, .metrics = {{"accuracy", 0.5}}});
    run.save(trained(4), {.step = 4, .loss = std::numeric_limits<double>::quiet_NaN()});
    run.save(trained(5), {.step = 5});
  }
  trainer state;
  const auto best = [&](cairn::checkpointer_options options, std::optional<cairn::metric_order> order = std::nullopt) {
    checkpointer run(store, std::move(options));
    return run.restore_best(state, std::move(order))->step;
  };
  CHECK(best({}) == 3);
  CHECK(state == trained(3));
  CHECK(best({}, cairn::metric_order{"accuracy", false}) == 2);
  CHECK(state == trained(2));
  CHECK(best({.keep_best = cairn::keep_best_rule{.metric = "accuracy", .lower_is_better = true}}) == 1);
  const auto failure = sample::failure_of([&] { best({}, cairn::metric_order{"f1"}); });
  CHECK(failure.code == errc::not_found);
  CHECK(failure.says("no checkpoint in memory has a finite metric \"f1\""));
  CHECK(state == trained(1));
}

TEST_CASE("a checkpoint that is published again while the best is searched is not taken for the best") {
  const cairn::stores::memory store;
  {
    checkpointer run(store);
    for (std::uint64_t step = 1; step <= 3; ++step)
      run.save(trained(step), {.step = step, .loss = step == 2 ? 0.1 : 0.5});
  }
  bool is_gone = true;
  const hooked_store hooked{store, {.before_open = [&](std::string_view name, std::string_view) {
                              if (name == "step-000000003" && std::exchange(is_gone, false))
                                cairn::fail(errc::not_found, {"it is gone"});
                            }}};
  trainer state;
  CHECK(checkpointer(hooked).restore_best(state)->step == 2);
  CHECK_FALSE(is_gone);
}

TEST_CASE("the loss becomes NaN: an event says so, once; the last checkpoint before it stays, and is restored") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const cairn::stores::memory store;
  std::vector<cairn::event> events;
  checkpointer run(store,
                   {.keep_last = 2, .when = cairn::policies::every_steps{2}, .on_event = [&](const cairn::event& what) {
                      if (what.what == cairn::event::kind::not_finite) events.push_back(what);
                    }});
  trainer state;
  CHECK_FALSE(run.restore_finite(state));
  const auto train = [&](std::uint64_t first, std::uint64_t last, std::optional<double> loss) {
    for (auto step = first; step <= last; ++step) {
      std::ignore = run.step(trained(step), {.step = step, .loss = loss});
      run.wait();
    }
  };
  train(1, 10, 1.0);
  CHECK(events.empty());
  train(11, 20, nan);
  REQUIRE(events.size() == 1);
  CHECK(events[0].step == 11);
  CHECK(events[0].checkpoint == "memory");
  CHECK(events[0].message.find("restore_finite") != std::string::npos);
  train(21, 21, std::nullopt);
  train(22, 24, std::numeric_limits<double>::infinity());
  CHECK(events.size() == 1);
  CHECK(run.steps() == std::vector<std::uint64_t>{10, 22, 24});
  CHECK(run.restore(state)->step == 24);
  const auto report = run.restore_finite(state);
  REQUIRE(report);
  CHECK(report->step == 10);
  CHECK(state == trained(10));
  CHECK(run.remove_after(report->step) == 2);
  train(11, 12, nan);  // again, after the run went back
  CHECK(events.size() == 2);
  run.save(trained(13), {.step = 13, .loss = 1.0});
  run.save(trained(14), {.step = 14, .loss = nan});
  CHECK(events.size() == 3);
  CHECK(sample::failure_of([&] { run.restore_finite(state, {.step = 2}); }).code == errc::invalid);
  CHECK(run.restore_finite(state)->step == 13);
  CHECK(run.remove_after(11) == 2);
  cairn::save(store, checkpoint_name(10), trained(10), {.step = 10, .metrics = {{"loss", nan}}});
  const auto failure = sample::failure_of([&] { run.restore_finite(state); });
  CHECK(failure.code == errc::not_found);
  CHECK(failure.says("no checkpoint in memory has a finite loss"));
}

TEST_CASE("the best checkpoint: a damaged index is reported and passed over, and metrics are read as they are now") {
  const sample::scratch scratch;
  checkpointer run(scratch.path("run"));
  for (std::uint64_t step = 1; step <= 3; ++step)
    run.save(trained(step), {.step = step, .loss = 1.0 / static_cast<double>(step)});
  const auto damage = [&](const std::string& name) {
    std::ofstream(scratch.path("run/" + name + "/index.json")) << "damaged";
  };
  damage("step-000000003");
  trainer state;
  const auto report = run.restore_best(state);
  REQUIRE(report);
  CHECK(report->step == 2);
  REQUIRE(report->skipped.size() == 1);
  CHECK(report->skipped[0].checkpoint == "step-000000003");

  cairn::save(scratch.path("run/step-000000001"), trained(9), {.step = 1, .metrics = {{"loss", 0.0}}});
  CHECK(run.restore_best(state)->step == 1);
  CHECK(state == trained(9));

  damage("step-000000001");
  damage("step-000000002");
  CHECK(sample::failure_of([&] { run.restore_best(state); }).code == errc::corrupt);
  CHECK(state == trained(9));
}

TEST_CASE("codec rules that encode no leaf are reported: in every report, and once as an event") {
  std::vector<std::string> messages;
  checkpointer run(cairn::stores::memory(), {.codecs = {{"model.*", cairn::codecs::lossless{}},
                                                        {"momentun", cairn::codecs::raw{}},
                                                        {"model.bias", cairn::codecs::raw{}}},
                                             .on_event = [&](const cairn::event& what) {
                                               if (what.what == cairn::event::kind::unmatched)
                                                 messages.push_back(what.message);
                                             }});
  const std::vector<std::string> unmatched{"momentun", "model.bias"};
  CHECK(run.save(trained(1), {.step = 1}).unmatched_rules == unmatched);
  CHECK(run.save(trained(2), {.step = 2}).unmatched_rules == unmatched);
  CHECK(messages == std::vector<std::string>{"the codec rule \"momentun\" encodes no leaf",
                                             "the codec rule \"model.bias\" encodes no leaf"});
  CHECK(cairn::save(cairn::stores::memory(), "a", trained(1)).unmatched_rules.empty());
}

TEST_CASE_METHOD(in_scratch, "durable = false is refused with a store that is passed in: that is the store's option") {
  for (const cairn::any_store& store :
       {cairn::any_store(cairn::stores::directory(scratch.path("run"))),
        cairn::any_store(cairn::stores::directory(scratch.path("run"), {.durable = false})),
        cairn::any_store(cairn::stores::memory())}) {
    for (const auto& failure : {sample::failure_of([&] { static_cast<void>(checkpointer(store, {.durable = false})); }),
                                sample::failure_of([&] { cairn::save(store, "a", 1, {.durable = false}); })}) {
      CHECK(failure.code == errc::invalid);
      CHECK(failure.says("durable is false"));
    }
  }
  CHECK_NOTHROW(checkpointer(scratch.path("run"), {.durable = false}).save(1, {.step = 1}));
}

TEST_CASE("killed at any moment, a run goes on from its newest checkpoint as if nothing had been") {
  const sample::scratch scratch;
  const auto root = scratch.path("run");
  std::mt19937 random(1);
  const auto options = [](int round) {
    return cairn::checkpointer_options{.keep_last = 2,
                                       .when = cairn::policies::every_steps{1},
                                       .durable = round % 3 == 0,
                                       .shards = 2,
                                       .asynchronous = false};
  };
  std::uint64_t reported = 0;
  for (int round = 0; round < 30; ++round) {
    INFO("round " << round);
    tests::channel saves;
    const pid_t run = tests::start_child(saves, [&](const tests::channel& out) {
      checkpointer checkpoints(root, options(round));
      trainer state;
      const auto report = checkpoints.restore(state);
      if (report && (!report->skipped.empty() || state != trained(report->step, 2000))) ::_exit(5);
      for (auto step = static_cast<std::uint64_t>(state.step) + 1;; ++step) {
        std::ignore = checkpoints.step(trained(step, 2000), {.step = step});
        out.send("!");
      }
    });
    char byte = 0;
    for (auto n = random() % 4; n > 0; --n) {
      REQUIRE(saves.receive(byte));
      ++reported;
    }
    for (volatile auto spin = random() % (options(round).durable ? 5'000'000 : 300'000); spin > 0;) spin = spin - 1;
    REQUIRE(tests::kill_child(run));
    reported += saves.receive_all().size();

    trainer state;
    const auto report = checkpointer(root).restore(state);
    REQUIRE((report.has_value() || reported == 0));
    if (!report) continue;
    CHECK(report->skipped.empty());
    CHECK(report->step >= reported);
    CHECK(state == trained(report->step, 2000));
    reported = report->step;  // published, and then killed before it could say so
  }
  CHECK(reported >= 30);
  checkpointer checkpoints(root, options(0));
  trainer state;
  REQUIRE(checkpoints.restore(state));
  save_all(checkpoints, {reported + 1});
  CHECK(steps_in(root) == steps{reported, reported + 1});
  CHECK(std::distance(fs::directory_iterator(root), {}) == 3);  // with the lock
}
