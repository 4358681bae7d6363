// SPDX-License-Identifier: MIT
#include "cairn/run/checkpoint_list.hpp"

#include <random>
#include <string>
#include <vector>

#include "cairn/core/error.hpp"
#include "cairn/store/memory.hpp"
#include "cairn/store/naming.hpp"
#include "catch.hpp"
#include "chain.hpp"
#include "gate.hpp"
#include "save_as.hpp"

using cairn::errc;
using cairn::detail::checkpoint_list;
using cairn::detail::checkpoint_name;
using steps = std::vector<std::uint64_t>;
using kind = cairn::event::kind;

namespace {

/// A list over a store in memory, and its events.
struct listed {
  tests::gated_store gated{};
  cairn::any_store store = gated;
  cairn::checkpointer_options options{};
  std::vector<cairn::event> events{};
  cairn::observer on_event = [this](const cairn::event& what) { events.push_back(what); };
  checkpoint_list list{store, options, on_event};

  void save(std::uint64_t step, const std::map<std::string, double>& metrics = {}) {
    tests::save_as(store, checkpoint_name(step), 1, {.step = step, .metrics = metrics});
  }
};

}  // namespace

TEST_CASE("a checkpoint under the name of another step is kept for a person to look at, and does not count") {
  listed on;
  on.options.keep_last = 1;
  for (const std::uint64_t step : {1U, 2U, 3U}) on.save(step);
  tests::save_as(on.store, checkpoint_name(9), 1, {.step = 3});
  CHECK(on.list.prune() == 2);
  CHECK(on.list.steps() == steps{3, 9});
  CHECK(on.list.newest_step_for(4) == 3);
  CHECK_NOTHROW(on.list.make_way(4));
  CHECK(sample::failure_of([&] { on.list.make_way(2); }).code == errc::stale);
}

TEST_CASE("what a copy under another name is built on is kept, as long as the copy is there") {
  listed on;
  on.options.keep_last = 1;
  std::mt19937 random(1);
  auto state = chain::start(random, 600);
  cairn::detail::delta_base base;
  const auto copy = [&](const std::string& from, const std::string& to) {
    std::vector<std::pair<std::string, std::string>> files;
    for (const auto& file : on.store.open(from)->files()) files.emplace_back(file, sample::get(on.store, from, file));
    sample::put(on.store, to, files);
  };
  for (std::uint64_t step = 1; step <= 3; ++step) {
    chain::train(state, random);
    cairn::save_options how{.step = step};
    how.codecs = chain::mixed_rules();
    tests::save_as(on.store, checkpoint_name(step), state, how, &base);
    if (step == 2) copy(checkpoint_name(2), "best");
  }
  for (std::uint64_t step = 4; step <= 6; ++step) on.save(step, {{"loss", 1}});
  const auto best = chain::restored(on.store, "best");
  CHECK(on.list.prune() == 4);
  CHECK(on.list.steps() == steps{1, 6});
  CHECK(chain::restored(on.store, "best") == best);
  CHECK(on.list.newest_step() == 6);

  const auto failure = sample::failure_of([&] { on.list.remove_later(0); });
  CHECK(failure.code == errc::invalid);
  CHECK(failure.says("step-000000001 in memory cannot be removed: best is built on it"));
  on.options.on_older_step = cairn::when_older::replace;
  CHECK(sample::failure_of([&] { on.list.make_way(3); }).code == errc::invalid);
  CHECK(on.list.steps() == steps{1, 6});
  CHECK(on.list.remove_later(1) == 1);

  on.save(7);
  on.save(8);
  copy(checkpoint_name(8), "best");  // replaced: it no longer needs anything
  CHECK(on.list.prune() == 2);
  CHECK(on.list.steps() == steps{8});
  on.options.keep_best = cairn::keep_best_rule{"loss"};
  tests::save_as(on.store, "better", 1, {.step = 9, .metrics = {{"loss", 0}}});  // is not counted by any rule
  CHECK(on.list.prune() == 0);
  CHECK(on.list.remove_later(0) == 1);
  CHECK(on.store.list() == std::vector<std::string>{"best", "better"});
}

TEST_CASE("later checkpoints on which an earlier one is built are not removed, nor any other") {
  listed on;
  std::mt19937 random(1);
  auto state = chain::start(random, 600);
  cairn::detail::delta_base base;
  for (const std::uint64_t step : {5U, 3U}) {  // the names are in another order than the steps of the chain
    chain::train(state, random);
    cairn::save_options how{.step = state.step};
    how.codecs = chain::mixed_rules();
    CHECK(tests::save_as(on.store, checkpoint_name(step), state, how, &base).is_delta == (step == 3));
  }
  on.save(6);
  const auto failure = sample::failure_of([&] { on.list.remove_later(4); });
  CHECK(failure.code == errc::invalid);
  CHECK(failure.says("step-000000005 in memory cannot be removed: step-000000003 is built on it"));
  CHECK(on.list.steps() == steps{3, 5, 6});
  CHECK(on.events.empty());
  CHECK(on.list.remove_later(2) == 3);
}

TEST_CASE("keep_best by a metric that no checkpoint has removes nothing, and says so once") {
  listed on;
  on.options.keep_best = cairn::keep_best_rule{"f1"};
  on.options.keep_last = 1;
  on.save(1, {{"loss", 0.5}});
  on.save(2, {{"f1", std::numeric_limits<double>::quiet_NaN()}});
  CHECK(on.list.prune() == 0);
  REQUIRE(on.events.size() == 1);
  CHECK(on.events[0].what == kind::unmatched);
  CHECK(on.events[0].checkpoint == "memory");
  CHECK(on.events[0].message == "keep_best keeps all checkpoints: none has a finite metric \"f1\"");
  on.save(3);
  CHECK(on.list.prune() == 0);
  CHECK(on.events.size() == 1);
  on.save(4, {{"f1", 0.5}});
  on.save(5);
  CHECK(on.list.prune() == 3);
  CHECK(on.list.steps() == steps{4, 5});
}

TEST_CASE("without keep_best, or with its metric, nothing is said") {
  listed on;
  on.save(1);
  on.save(2);
  on.options.keep_last = 1;
  CHECK(on.list.prune() == 1);
  on.options.keep_best = cairn::keep_best_rule{"f1"};
  on.save(3, {{"f1", 0.5}});
  CHECK(on.list.prune() == 1);
  for (const auto& each : on.events) CHECK(each.what == kind::pruned);
}

TEST_CASE("when one checkpoint may have changed, only its index is read again") {
  std::size_t reads = 0;
  listed on{.gated = {.opened = [&](std::string_view, std::string_view) { ++reads; }}};
  for (const std::uint64_t step : {1U, 2U, 3U}) on.save(step);
  reads = 0;
  static_cast<void>(on.list.retention_plan());
  CHECK(reads == 3);
  cairn::detail::save_job job;
  job.name = checkpoint_name(3);
  job.info.step = 3;
  on.list.note_failed_save(job);
  static_cast<void>(on.list.retention_plan());
  CHECK(reads == 4);
  on.list.refresh();
  static_cast<void>(on.list.retention_plan());
  CHECK(reads == 7);
}
