// SPDX-License-Identifier: MIT
// Machines that were taken for lost and come back, and runs that use one of the places alone.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "cairn/checkpointer.hpp"
#include "cairn/levels.hpp"
#include "cairn/load.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/chain/attempt.hpp"
#include "cairn/state/describe.hpp"
#include "cairn/store/level_set.hpp"
#include "catch.hpp"
#include "hooked_store.hpp"
#include "store/sample.hpp"
#include "trainer.hpp"

using kind = cairn::event::kind;
using steps = std::vector<std::uint64_t>;
using sample::steps_in;
using tests::trained;
using tests::trainer;
namespace fs = std::filesystem;

namespace {

constexpr std::chrono::hours hour(1);

/// Machine A has saved the steps 10 to 17 at its near place, of which the far one has 10 and 11, and was cut off. B has
/// continued from 11: the far place has its 12 and 13.
struct two_machines {
  sample::scratch scratch{};
  cairn::any_store near = cairn::stores::directory(scratch.path("near"));
  cairn::any_store far = cairn::stores::directory(scratch.path("far"));
  std::vector<cairn::event> events{};

  two_machines() {
    {
      auto a = run_a();
      a.save(trained(10), {.step = 10});
      a.save(trained(11), {.step = 11});
    }
    {
      cairn::checkpointer a(cairn::levels{near, cairn::level{far, {.every = hour}}},
                            {.when = cairn::policies::every_steps{1}});
      trainer state;
      a.restore(state);
      for (std::uint64_t step = 12; step <= 17; ++step) a.step(trained(step), {.step = step}).save.wait();
    }
    for (const auto& name : far.list())
      if (name > "step-000000011") far.remove(name);  // it was cut off before
    cairn::checkpointer b(cairn::levels{scratch.path("other"), far});
    trainer state;
    b.restore(state);
    b.save(trained(12, 90), {.step = 12, .loss = 3});
    b.save(trained(13, 90), {.step = 13, .loss = 2});
  }
  [[nodiscard]] cairn::checkpointer run_a(cairn::checkpointer_options options = {}) {
    options.on_event = [this](const cairn::event& what) { events.push_back(what); };
    return cairn::checkpointer(cairn::levels{near, far}, std::move(options));
  }
  [[nodiscard]] std::size_t count(kind what) const {
    return static_cast<std::size_t>(std::ranges::count(events, what, &cairn::event::what));
  }
};

}  // namespace

TEST_CASE("the run that was continued elsewhere is not restored, and goes when the next one has saved") {
  two_machines both;
  both.events.clear();
  auto run = both.run_a({.keep_last = 2});
  CHECK(run.steps() == steps{10, 11, 12, 13});
  trainer state;
  REQUIRE(run.restore(state)->step == 13);
  CHECK(state == trained(13, 90));
  for (const std::uint64_t step : {14U, 18U, 22U}) run.save(trained(step, 90), {.step = step});
  CHECK(steps_in(both.near) == steps{18, 22});
  CHECK(steps_in(both.far) == steps{18, 22});
  CHECK(both.count(kind::failed) == 0);
}

TEST_CASE("no delta is built on a checkpoint that was outdated after it was restored") {
  sample::scratch scratch;
  const auto near = scratch.path("near"), far = scratch.path("far");
  const cairn::checkpointer_options deltas{.codecs = {{"*", cairn::codecs::lossless{.xor_parent = true}}}};
  {
    cairn::checkpointer a(cairn::levels{near, far}, deltas);
    a.save(trained(60), {.step = 60});
    a.save(trained(100), {.step = 100});
  }
  cairn::stores::directory(far).remove("step-000000100");  // it was cut off before
  cairn::checkpointer a(cairn::levels{near, far}, deltas);
  trainer state;
  REQUIRE(a.restore(state)->step == 100);
  {
    cairn::checkpointer b(cairn::levels{scratch.path("other"), far}, deltas);
    REQUIRE(b.restore(state)->step == 60);
    b.save(trained(80, 90), {.step = 80});
  }
  CHECK_FALSE(a.save(trained(110), {.step = 110}).is_delta);
  for (const auto& place : {near, far}) {
    CHECK(cairn::load(place, state).step == 110);
    CHECK(state == trained(110));
  }
}

TEST_CASE("with remove_after an abandoned history goes, too, and does not come back") {
  two_machines both;
  {
    auto run = both.run_a();
    trainer state;
    run.restore(state);
    CHECK(run.remove_after(11) == 2);
  }
  trainer state;
  CHECK(both.run_a().restore(state)->step == 11);
  CHECK(steps_in(both.near) == steps{10, 11});
}

TEST_CASE("the best checkpoint is searched in the history that counts") {
  two_machines both;
  auto run = both.run_a();
  trainer state;
  const auto report = run.restore_best(state);
  REQUIRE(report);
  CHECK(report->step == 13);
  CHECK(state == trained(13, 90));
}

TEST_CASE("a list of another thread does not take back what the lock has found") {
  two_machines both;
  std::atomic<int> lists{0};
  std::atomic<bool> is_slow{false}, may_go{false};
  struct slow_store : hooked_store {
    std::function<void()> listed;
    [[nodiscard]] std::vector<std::string> list() const {
      auto names = base.list();
      listed();
      return names;
    }
  };
  const auto first_waits = [&] {
    if (!is_slow || lists++ > 0) return;
    while (!may_go) std::this_thread::yield();
  };
  both.far = slow_store{{both.far, {}}, first_waits};
  auto run = both.run_a({.keep_last = 3});
  trainer state;
  run.restore(state);
  is_slow = true;
  std::thread reader([&] { static_cast<void>(run.steps()); });
  while (lists == 0) std::this_thread::yield();
  run.save(trained(14, 90), {.step = 14});
  may_go = true;
  reader.join();
  CHECK(run.latest() == 14);
  run.save(trained(15, 90), {.step = 15});
  CHECK(steps_in(both.near).back() == 15);
  CHECK(std::ranges::count(steps_in(both.near), 14U) == 1);
}

TEST_CASE("what was saved at one of the places alone counts") {
  const sample::scratch scratch;
  const auto near = scratch.path("near"), far = scratch.path("far");
  cairn::checkpointer(near).save(trained(1), {.step = 1});  // before there were two places
  {
    cairn::checkpointer run(cairn::levels{near, far});
    trainer state;
    CHECK(run.restore(state)->step == 1);
    run.save(trained(2), {.step = 2});
  }
  const bool is_far = GENERATE(false, true);
  {
    cairn::checkpointer alone(is_far ? far : near);
    trainer state;
    alone.restore(state);
    for (const std::uint64_t step : {3U, 300U}) alone.save(trained(step), {.step = step});
  }
  cairn::checkpointer run(cairn::levels{near, far});
  trainer state;
  CHECK(run.restore(state)->step == 300);
  CHECK(state == trained(300));
  run.save(trained(301), {.step = 301});
  CHECK(run.steps() == steps{1, 2, 3, 300, 301});
}

TEST_CASE("a machine whose clock was ahead does not outdate what the far place has") {
  const sample::scratch scratch;
  cairn::any_store near = cairn::stores::directory(scratch.path("near")),
                   far = cairn::stores::directory(scratch.path("far"));
  const auto save = [](cairn::any_store& to, std::uint64_t step, double began) {
    const int state = 1;
    cairn::detail::save_job job{.name = cairn::detail::checkpoint_name(step), .what = cairn::detail::describe(state)};
    job.info = {.step = step, .notes = {{"run_began", {began}}}};
    cairn::detail::save_checkpoint(to, job, 1);
  };
  save(near, 12, 2e9);
  for (const std::uint64_t step : {11U, 13U, 20U}) save(far, step, 1e9);
  const cairn::levels places{near, far};
  CHECK(places.list().size() == 4);
  cairn::any_store store = places;
  const auto lock = store.lock();
  CHECK(store.levels()->began() > 2e9);
}
