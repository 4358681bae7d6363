// SPDX-License-Identifier: MIT
// A run whose policy says when a checkpoint is made and as what, learns what that costs, and is remembered across
// restarts.
#include "cairn/checkpointer.hpp"

#include "cairn/schedule/fits/estimators.hpp"
#include "cairn/schedule/policies.hpp"
#include "cairn/store/directory.hpp"
#include "catch.hpp"
#include "chain_checks.hpp"
#include "gate.hpp"
#include "recording_policy.hpp"
#include "too_deep.hpp"
#include "trainer.hpp"
#include "save_as.hpp"

using cairn::checkpointer;
using cairn::decision;
using cairn::save_kind;
using cairn::detail::checkpoint_name;
using tests::recording_policy;
using tests::trained;
using kind = cairn::event::kind;
using steps = std::vector<std::uint64_t>;

namespace {

/// So slow that a running save does not end until it is cancelled or hurried.
constexpr double next_to_nothing = 1e-6;

/// Lets the clock go on.
void work(double seconds) {
  for (const cairn::detail::stopwatch watch; watch.seconds() < seconds;) {
  }
}

recording_policy saving_at(std::function<bool(std::uint64_t step)> is_due) {
  recording_policy policy;
  policy.decides = [is_due = std::move(is_due)](const cairn::moment& now) { return is_due(now.step); };
  return policy;
}
recording_policy saving_always() {
  return saving_at([](std::uint64_t) { return true; });
}

steps steps_of(const std::vector<cairn::save_cost>& costs) {
  steps all;
  for (const auto& cost : costs) all.push_back(cost.step);
  return all;
}

/// The published saves of a run. Both threads of the run report them, one at a time.
struct published_events {
  std::vector<cairn::event> all;

  void operator()(const cairn::event& e) {
    if (e.what == kind::published) all.push_back(e);
  }
};

/// The default policy, with saves at multiples of `every` steps and at no others.
struct adaptive_every {
  std::uint64_t every = 5;
  cairn::policies::adaptive inner{};

  decision should_save(const cairn::moment& now) {
    static_cast<void>(inner.should_save(now));
    return now.step % every == 0;
  }
  void saved(const cairn::save_cost& cost) { inner.saved(cost); }
  void restarted(const cairn::restart& how) { inner.restarted(how); }
  [[nodiscard]] cairn::policy_memory remember() const { return inner.remember(); }
  void recall(const cairn::policy_memory& kept) { inner.recall(kept); }
};

std::vector<cairn::any_store> stores(const sample::scratch& scratch) {
  return {cairn::stores::memory(), cairn::stores::directory(scratch.path("run"), {.durable = false})};
}

/// One step. The result depends on `now` alone, so that a run with restarts has the same states as one without.
void train(chain::state& now) {
  std::mt19937 random(static_cast<unsigned>(now.step));
  chain::train(now, random);
}

chain::state untrained(std::size_t parameters = 600) {
  std::mt19937 random(5);
  return chain::start(random, parameters);
}

cairn::codec_rules lossless_rules() {
  return {{"net.*", cairn::codecs::lossless{.xor_parent = true}},
          {"adam.*", cairn::codecs::lossless{.xor_parent = true}}};
}

}  // namespace

TEST_CASE("a checkpoint is stored as the policy asks: as it is, whole, or as a delta to the one before") {
  constexpr auto raw = save_kind::raw, whole = save_kind::whole, delta = save_kind::delta;
  const std::vector<std::optional<save_kind>> asked{delta, delta, raw,   delta, {},  whole, delta, whole,
                                                    whole, {},    whole, raw,   raw, delta, delta};
  const std::vector<save_kind> expected{whole, delta, raw,   delta, delta, whole, delta, whole,
                                        whole, delta, whole, raw,   raw,   delta, delta};
  const sample::scratch scratch(sample::in_memory());
  for (const auto& store : stores(scratch))
    for (const bool is_lossy : {true, false})
      for (const bool asynchronous : {true, false}) {
        recording_policy policy;
        policy.decides = [&](const cairn::moment& now) { return decision(true, asked[now.step - 1]); };
        checkpointer run(store, {.when = policy,
                                 .codecs = is_lossy ? chain::mixed_rules() : lossless_rules(),
                                 .chain = {.anchor_every = std::nullopt},
                                 .asynchronous = asynchronous});
        auto state = untrained();
        for (std::size_t i = 0; i < asked.size(); ++i) {
          train(state);
          const auto name = checkpoint_name(state.step);
          INFO(name << (is_lossy ? ", lossy" : "") << (asynchronous ? ", asynchronous" : ""));
          CHECK(run.step(state, {.step = state.step}).started);
          run.wait();
          REQUIRE(policy.log->saved.size() == i + 1);
          CHECK(policy.log->saved.back().kind == expected[i]);
          const cairn::detail::chain_reader reader(store, name);
          const auto& newest = reader.newest();
          CHECK(newest.index.parent.has_value() == (expected[i] == delta));
          if (newest.index.parent) CHECK(newest.index.parent->name == checkpoint_name(state.step - 1));
          bool is_encoded = false;
          for (std::size_t leaf = 0; leaf < newest.contents.leaves.size(); ++leaf)
            for (const auto& slice : newest.slices_of(leaf)) is_encoded = is_encoded || slice.encoded != nullptr;
          CHECK(is_encoded == (expected[i] != raw));
          chain::check_restores(store, name, state);
          if (!is_lossy || expected[i] != delta) CHECK(chain::restored(store, name) == chain::bits_of(state));
        }
        for (const auto& name : store.list()) cairn::any_store(store).remove(name);
      }
}

TEST_CASE("a policy's wish for a delta is that of the codecs and the chain: the tenth is whole all the same") {
  auto store = cairn::any_store(cairn::stores::memory());
  recording_policy policy;
  policy.decides = [](const cairn::moment&) { return decision(true, save_kind::delta); };
  checkpointer run(store, {.when = policy, .codecs = chain::mixed_rules(), .chain = {.anchor_every = 4}});
  auto state = untrained();
  for (int i = 1; i <= 9; ++i) {
    train(state);
    std::ignore = run.step(state, {.step = state.step});
    run.wait();
  }
  for (std::uint64_t step = 1; step <= 9; ++step)
    CHECK((cairn::detail::read_index(*store.open(checkpoint_name(step))).parent == std::nullopt) == (step % 4 == 1));
}

TEST_CASE("what `save` writes is as the codecs and the chain say") {
  auto store = cairn::any_store(cairn::stores::memory());
  recording_policy policy;
  policy.decides = [](const cairn::moment&) { return decision(true, save_kind::raw); };
  checkpointer run(store, {.when = policy, .codecs = chain::mixed_rules()});
  auto state = untrained();
  std::ignore = run.step(state, {.step = 1});
  CHECK(run.save(state, {.step = 2}).is_delta);
}

TEST_CASE("what each published save has cost is told once, in order, before the policy is asked again") {
  for (const bool asynchronous : {true, false}) {
    INFO(asynchronous);
    const auto policy = saving_at([](std::uint64_t step) { return step % 2 == 0; });
    published_events events;
    checkpointer run(cairn::stores::memory(),
                     {.when = policy, .on_event = std::ref(events), .asynchronous = asynchronous});
    std::map<std::uint64_t, double> stall;
    steps expected;
    for (std::uint64_t step = 1; step <= 9; ++step) {
      const auto outcome = run.step(trained(step, 1000 * step), {.step = step});
      if (outcome.started) stall[step] = outcome.stall_seconds;
      CHECK(steps_of(policy.log->saved) == expected);
      run.wait();
      if (outcome.started) expected.push_back(step);
    }
    const auto& saved = policy.log->saved;
    CHECK(steps_of(saved) == steps{2, 4, 6, 8});
    REQUIRE(events.all.size() == saved.size());
    for (std::size_t i = 0; i < saved.size(); ++i) {
      CHECK(saved[i].stall_seconds > 0);
      CHECK(saved[i].stall_seconds <= stall[saved[i].step]);
      if (asynchronous) CHECK(saved[i].stall_seconds == stall[saved[i].step]);
      CHECK((saved[i].background_seconds > 0) == asynchronous);
      CHECK(saved[i].encode_seconds + saved[i].write_seconds > 0);
      CHECK(saved[i].kind == save_kind::whole);
      CHECK(saved[i].bytes == events.all[i].bytes);
      CHECK(saved[i].state_bytes == events.all[i].total);
    }
    const auto stats = run.stats();
    std::uint64_t bytes = 0, state_bytes = 0;
    for (const auto& cost : saved) bytes += cost.bytes, state_bytes += cost.state_bytes;
    CHECK(bytes == stats.bytes);
    CHECK(state_bytes == stats.state_bytes);
  }
}

TEST_CASE("what `save` has cost is told by the next step") {
  const recording_policy policy;
  checkpointer run(cairn::stores::memory(), {.when = policy});
  const auto report = run.save(trained(1), {.step = 1});
  CHECK(policy.log->saved.empty());
  std::ignore = run.step(trained(2), {.step = 2});
  std::ignore = run.step(trained(3), {.step = 3});
  REQUIRE(policy.log->saved.size() == 1);
  CHECK(policy.log->saved[0].step == 1);
  CHECK(policy.log->saved[0].bytes == report.bytes);
  CHECK(policy.log->saved[0].stall_seconds >= report.seconds);
  CHECK(policy.log->saved[0].background_seconds == 0);
  CHECK(policy.log->asked[0].saved_step == 1);
}

TEST_CASE("busy, wait: a save that is published while the next one waits is told before that begins") {
  const auto policy = saving_always();
  tests::gated_store gated;
  checkpointer run(gated, {.when = policy, .on_busy = cairn::when_busy::wait});
  std::vector<double> stalls;
  gated.entrance->close();
  stalls.push_back(run.step(trained(1), {.step = 1}).stall_seconds);
  CHECK_FALSE(policy.log->asked.back().is_saving);
  std::thread opens([&] { gated.entrance->open(); });
  for (std::uint64_t step = 2; step <= 6; ++step) {
    gated.entrance->close();
    std::thread opens_again([&] { gated.entrance->open(); });
    stalls.push_back(run.step(trained(step), {.step = step}).stall_seconds);
    opens_again.join();
    REQUIRE(policy.log->saved.size() == step - 1);
    CHECK(policy.log->saved.back().step == step - 1);
    CHECK(policy.log->saved.back().stall_seconds == stalls[step - 2]);
    CHECK(policy.log->saved.back().background_seconds > 0);
  }
  opens.join();
}

TEST_CASE("a policy sees that a save is running, until it is done") {
  const auto policy = saving_at([](std::uint64_t step) { return step == 1; });
  tests::gated_store gated;
  checkpointer run(gated, {.when = policy});
  gated.entrance->close();
  for (std::uint64_t step = 1; step <= 3; ++step) std::ignore = run.step(trained(step), {.step = step});
  gated.entrance->open();
  run.wait();
  std::ignore = run.step(trained(4), {.step = 4});
  std::vector<bool> is_saving;
  for (const auto& now : policy.log->asked) is_saving.push_back(now.is_saving);
  CHECK(is_saving == std::vector<bool>{false, true, true, false});
  CHECK(policy.log->order == std::vector<std::string>{"asked", "asked", "asked", "saved", "asked"});
}

TEST_CASE("the memory for copies is prepared when nothing is running: no merge, and no save of the first step") {
  auto policy = saving_at([](std::uint64_t) { return false; });
  tests::gated_store gated;
  std::atomic<std::size_t> merged = 0;
  checkpointer run(gated, {.when = policy,
                           .codecs = chain::mixed_rules(),
                           .chain = {.anchor_every = 1000, .merge = cairn::merging{.every = 2}},
                           .on_event = [&](const cairn::event& e) {
                             merged += e.what == kind::merged;
                             if (e.what == kind::published && e.step == 3) gated.entrance->close();
                           }});
  auto state = untrained();
  for (int i = 1; i <= 3; ++i) {
    train(state);
    run.save(state, {.step = state.step});
  }
  for (std::uint64_t step = 4; step <= 6; ++step) std::ignore = run.step(state, {.step = step});
  CHECK(policy.log->asked.back().is_saving);
  gated.entrance->open();
  run.wait();
  CHECK(merged == 1);
  std::ignore = run.step(state, {.step = 7});
  std::ignore = run.step(state, {.step = 8});
  CHECK_FALSE(policy.log->asked.back().is_saving);
  chain::check_restores(gated.inner, checkpoint_name(3), state);
}

TEST_CASE("a save that is cancelled or fails is not reported as a cost, and the newest checkpoint is the one before") {
  SECTION("cancelled for another one, and that one at the end") {
    const auto policy = saving_always();
    {
      checkpointer run(cairn::stores::memory(), {.when = policy,
                                                 .on_busy = cairn::when_busy::replace,
                                                 .on_destruction = cairn::when_destroyed::cancel,
                                                 .max_bytes_per_second = next_to_nothing});
      for (std::uint64_t step = 1; step <= 3; ++step) std::ignore = run.step(trained(step), {.step = step});
      CHECK(policy.log->asked.back().saved_step == 2);
    }
    CHECK(policy.log->saved.empty());
  }
  SECTION("cancelled for one that cannot be made") {
    const auto deep = tests::too_deep();
    const auto policy = saving_at([](std::uint64_t step) { return step > 1; });
    checkpointer run(cairn::stores::memory(), {.when = policy,
                                               .on_busy = cairn::when_busy::replace,
                                               .on_destruction = cairn::when_destroyed::cancel,
                                               .max_bytes_per_second = next_to_nothing});
    std::ignore = run.step(trained(1), {.step = 1});
    std::ignore = run.step(trained(2), {.step = 2});
    CHECK_FALSE(sample::failure_of([&] { std::ignore = run.step(deep, {.step = 3}); }).sentence.empty());
    CHECK(policy.log->asked.back().saved_step == 2);
    std::ignore = run.step(trained(4), {.step = 4});
    CHECK(policy.log->asked.back().saved_step == 0);
    CHECK(policy.log->asked.back().saved_seconds == 0);
  }
  SECTION("failed") {
    const auto policy = saving_always();
    tests::gated_store gated;
    gated.refuses = [](std::string_view name) { return name == checkpoint_name(2); };
    checkpointer run(gated, {.when = policy, .on_busy = cairn::when_busy::wait, .retry_for = {}});
    std::ignore = run.step(trained(1), {.step = 1});
    std::ignore = run.step(trained(2), {.step = 2});
    CHECK(sample::failure_of([&] { run.wait(); }).says("the disk is full"));
    std::ignore = run.step(trained(3), {.step = 3});
    CHECK(policy.log->asked.back().saved_step == 1);
    CHECK(policy.log->asked.back().saved_seconds >= policy.log->asked[0].seconds);
    CHECK(policy.log->asked.back().saved_seconds <= policy.log->asked[1].seconds);
    run.wait();
    std::ignore = run.step(trained(4), {.step = 4});
    CHECK(steps_of(policy.log->saved) == steps{1, 3});
  }
}

TEST_CASE("in parts: the time that the trainer waits is stall, and not counted as background too") {
  constexpr double held = 0.02;
  const auto policy = saving_at([](std::uint64_t step) { return step == 1; });
  published_events events;
  tests::gated_store gated;
  gated.refuses = [](std::string_view) {
    work(held);
    return false;
  };
  checkpointer run(gated, {.when = policy, .on_event = std::ref(events), .max_staging_bytes = std::uint64_t{1} << 20U});
  const auto outcome = run.step(trained(1, 1'000'000), {.step = 1});
  CHECK(outcome.stall_seconds >= held);
  run.wait();
  std::ignore = run.step(trained(2), {.step = 2});
  REQUIRE(policy.log->saved.size() == 1);
  REQUIRE(events.all.size() == 1);
  CHECK(policy.log->saved[0].stall_seconds == outcome.stall_seconds);
  CHECK(policy.log->saved[0].background_seconds >= 0);
  CHECK(policy.log->saved[0].background_seconds <= events.all[0].seconds - held);
  CHECK(policy.log->asked[1].saved_seconds >= policy.log->asked[0].seconds + held);
}

TEST_CASE("an iteration is the training alone: neither what saving stopped it, nor a step that threw, nor a restore") {
  constexpr double held = 0.02;
  auto policy = saving_always();
  std::atomic<int> asked = 0;
  policy.decides = [&](const cairn::moment& now) {
    ++asked;
    return now.step < 3;
  };
  tests::gated_store gated;
  gated.refuses = [&](std::string_view) {
    while (asked < 2) std::this_thread::yield();
    work(held);
    return true;
  };
  checkpointer run(gated, {.when = policy, .on_busy = cairn::when_busy::wait, .retry_for = {}});
  work(held);
  auto state = trained(0);
  CHECK_FALSE(run.restore(state));
  std::ignore = run.step(trained(1), {.step = 1});
  const cairn::detail::stopwatch watch;
  CHECK(sample::failure_of([&] { std::ignore = run.step(trained(2), {.step = 2}); }).says("the disk is full"));
  std::ignore = run.step(trained(3), {.step = 3});
  const double passed = watch.seconds();
  REQUIRE(policy.log->asked.size() == 3);
  CHECK(policy.log->asked[0].iteration_seconds <= policy.log->asked[0].seconds - held);
  CHECK(policy.log->asked[2].iteration_seconds <= passed - held);
}

TEST_CASE("who goes back to a checkpoint is told first what it has cost") {
  auto policy = saving_at([](std::uint64_t step) { return step == 2; });
  policy.remembers = [] { return cairn::policy_memory{{"mine", {1}}}; };
  checkpointer run(cairn::stores::memory(), {.when = policy});
  for (std::uint64_t step = 1; step <= 2; ++step) std::ignore = run.step(trained(step), {.step = step});
  auto state = trained(0);
  const auto report = run.restore(state);
  REQUIRE(report);
  CHECK(report->step == 2);
  std::ignore = run.step(trained(3), {.step = 3});
  CHECK(policy.log->order == std::vector<std::string>{"asked", "asked", "saved", "restarted", "asked"});
  CHECK_FALSE(policy.log->restarted[0].after_failure);
  CHECK(policy.log->asked.back().saved_step == 2);
  CHECK(policy.log->asked.back().saved_seconds == 0);
}

TEST_CASE("the default policy saves at the tenth step, and a second process knows what that has cost") {
  const sample::scratch scratch(sample::in_memory());
  for (const auto& store : stores(scratch)) {
    steps saved;
    {
      checkpointer run(store);
      for (std::uint64_t step = 1; step <= 10; ++step)
        if (run.step(trained(step), {.step = step}).started) saved.push_back(step);
      run.wait();
      std::ignore = run.step(trained(11), {.step = 11});
      run.save(trained(12), {.step = 12});
    }
    CHECK(saved == steps{10});
    checkpointer run(store);
    auto state = trained(0);
    const auto report = run.restore(state);
    REQUIRE(report);
    CHECK(state == trained(12));
    REQUIRE(report->notes.contains("whole.stall"));
    cairn::policies::adaptive fresh, knowing;
    knowing.recall(report->notes);
    cairn::moment now{.step = 12, .saved_step = 12, .iteration_seconds = 1e-9};
    std::size_t fresh_saves = 0, knowing_saves = 0;
    for (int i = 0; i < 100; ++i) {  // a tenth of a microsecond
      now.step += 1;
      now.seconds += now.iteration_seconds;
      fresh_saves += bool(fresh.should_save(now));
      knowing_saves += bool(knowing.should_save(now));
    }
    CHECK(fresh_saves > 0);
    CHECK(knowing_saves == 0);
  }
}

TEST_CASE("a crash counts as a failure; a run that ends with `save` or by a signal does not") {
  const sample::scratch scratch(sample::in_memory());
  for (const auto& store : stores(scratch)) {
    const auto failures = [&](auto&& ending) {  // that are known of after a process that ends so, and the next one
      std::uint64_t step = 0;
      {
        checkpointer run(store, {.when = adaptive_every{}, .preempt = {SIGUSR1}});
        auto state = trained(0);
        if (const auto report = run.restore(state)) step = report->step;
        for (int i = 0; i < 7; ++i) {
          ++step;
          std::ignore = run.step(trained(step), {.step = step});
          run.wait();
        }
        ending(run, ++step);
      }
      checkpointer next(store, {.when = adaptive_every{}});
      auto state = trained(0);
      const auto report = next.restore(state);
      REQUIRE(report);
      next.save(trained(report->step + 1), {.step = report->step + 1});
      const auto notes = cairn::detail::read_index(*store.open(checkpoint_name(report->step + 1))).info.notes;
      REQUIRE(notes.contains("failures"));
      REQUIRE(notes.at("failures").size() == 2);
      return notes.at("failures")[0];
    };
    const auto crash = [](checkpointer&, std::uint64_t) {};
    const auto peace = [](checkpointer& run, std::uint64_t step) { run.save(trained(step), {.step = step}); };
    const auto signal = [](checkpointer& run, std::uint64_t step) {
      std::raise(SIGUSR1);
      CHECK(run.step(trained(step), {.step = step}).stop);
    };
    CHECK(failures(peace) == 0);
    CHECK(failures(signal) == 0);
    CHECK(failures(crash) == 1);
    CHECK(failures(signal) == 1);
    CHECK(failures(peace) == 1);
    CHECK(failures(crash) == 2);
  }
}

TEST_CASE("a signal: the running save is reported to the policy, and the last checkpoint remembers that") {
  auto policy = saving_at([](std::uint64_t step) { return step == 1; });
  policy.remembers = [log = policy.log] {
    return cairn::policy_memory{{"told", {static_cast<double>(log->saved.size())}}};
  };
  const cairn::stores::memory store;
  checkpointer run(store, {.when = policy, .preempt = {SIGUSR1}});
  CHECK(run.step(trained(1), {.step = 1}).started);
  std::raise(SIGUSR1);
  CHECK(run.step(trained(2), {.step = 2}).stop);
  const auto notes = cairn::detail::read_index(*store.open(checkpoint_name(2))).info.notes;
  CHECK(notes.at("told") == std::vector<double>{1});
  CHECK(notes.at("ended") == std::vector<double>{1});
  CHECK(cairn::detail::read_index(*store.open(checkpoint_name(1))).info.notes.at("ended") == std::vector<double>{0});
}

TEST_CASE("what a policy remembers comes back to the next process, also from a merged checkpoint") {
  for (const bool to_whole : {true, false}) {
    auto store = cairn::any_store(cairn::stores::memory());
    auto policy = saving_always();
    policy.remembers = [log = policy.log] {
      return cairn::policy_memory{{"asked", {static_cast<double>(log->asked.size()), 0.1}},
                                  {"\"odd\" \\ \xc3\xa9", {}}};
    };
    std::size_t merged = 0;
    auto state = untrained();
    {
      checkpointer run(store,
                       {.when = policy,
                        .codecs = chain::mixed_rules(),
                        .chain = {.anchor_every = 1000, .merge = cairn::merging{.every = 3, .to_whole = to_whole}},
                        .on_event = [&](const cairn::event& e) { merged += e.what == kind::merged; }});
      for (int i = 0; i < 7; ++i) {
        train(state);
        CHECK(run.step(state, {.step = state.step}).started);
        run.wait();
      }
    }
    CHECK(merged == 2);
    const recording_policy next;
    checkpointer run(store, {.when = next});
    chain::state back;
    const auto report = run.restore(back);
    REQUIRE(report);
    CHECK(report->step == 7);
    REQUIRE(next.log->recalled.size() == 1);
    CHECK(next.log->recalled[0] == report->notes);
    CHECK(report->notes.at("asked") == std::vector<double>{7, 0.1});
    CHECK(report->notes.at("\"odd\" \\ \xc3\xa9").empty());
    CHECK(report->notes.size() == 4);
    CHECK(next.log->restarted[0].after_failure);
    CHECK(next.log->restarted[0].away_seconds > 0);
    CHECK(next.log->restarted[0].restore_seconds > 0);
    CHECK((report->links > 1) != to_whole);
    CHECK(next.log->restarted[0].links == report->links);
  }
}

TEST_CASE("a checkpoint without notes is restored like any other: nothing is known, and no failure is counted") {
  auto store = cairn::any_store(cairn::stores::memory());
  const auto state = trained(4);
  tests::save_as(store, checkpoint_name(4), state, {.step = 4});
  const recording_policy policy;
  auto back = trained(0);
  {
    checkpointer run(store, {.when = policy});
    REQUIRE(run.restore(back));
  }
  CHECK(back == state);
  CHECK(policy.log->recalled == std::vector<cairn::policy_memory>{{}});
  CHECK_FALSE(policy.log->restarted.at(0).after_failure);
  CHECK(policy.log->restarted.at(0).away_seconds == 0);
  checkpointer run(store, {});
  const auto report = run.restore(back);
  REQUIRE(report);
  CHECK(report->notes.empty());
  steps saved;
  for (std::uint64_t step = 5; step <= 14; ++step)
    if (run.step(trained(step), {.step = step}).started) saved.push_back(step);
  CHECK(saved == steps{14});
}

TEST_CASE("a policy whose notes cannot be kept makes the save fail, and the next one is made") {
  auto policy = saving_always();
  policy.remembers = [log = policy.log] {
    return cairn::policy_memory{{log->asked.size() == 1 ? "\xff" : "good", {1}}};
  };
  const cairn::stores::memory store;
  checkpointer run(store, {.when = policy});
  CHECK(run.step(trained(1), {.step = 1}).started);
  CHECK(sample::failure_of([&] { run.wait(); }).says("notes: \""));
  CHECK(run.step(trained(2), {.step = 2}).started);
  CHECK_NOTHROW(run.wait());
  CHECK(store.list() == std::vector<std::string>{checkpoint_name(2)});
}

TEST_CASE("all kinds of saves by all policies, with crashes in between: every checkpoint is the state of its step") {
  std::mt19937 chance(21);
  const auto one_in = [&](unsigned n) { return chance() % n == 0; };
  recording_policy random_policy;
  random_policy.decides = [&](const cairn::moment&) {
    const auto number = chance() % 5;
    return decision(!one_in(3), number < 3 ? std::optional(static_cast<save_kind>(number)) : std::nullopt);
  };
  random_policy.remembers = [&] { return cairn::policy_memory{{"random", std::vector<double>(chance() % 3, 1)}}; };
  namespace policies = cairn::policies;
  const std::vector<cairn::any_policy> all{random_policy,
                                           policies::adaptive(),
                                           random_policy,
                                           policies::young(),
                                           adaptive_every{2},
                                           policies::checkfreq(),
                                           policies::adaptive({.kinds = policies::save_kinds::configured}),
                                           random_policy,
                                           policies::coci({.estimator = cairn::estimators::exponential()}),
                                           policies::every_steps{3},
                                           policies::every{std::chrono::nanoseconds{1}}};
  std::map<std::uint64_t, chain::bits> history;
  for (auto state = untrained(); state.step <= 200; train(state)) history[state.step] = chain::bits_of(state);
  auto store = cairn::any_store(cairn::stores::memory());
  std::size_t crashes = 0, restores = 0, returns = 0;
  for (std::uint64_t reached = 0; reached < 200; ++crashes) {
    cairn::checkpointer_options options{.keep_last = one_in(2) ? std::optional<std::size_t>(4) : std::nullopt,
                                        .when = all[crashes % all.size()],
                                        .codecs = lossless_rules(),
                                        .chain = {.anchor_every = chain::at_least(1, chance() % 8),
                                                  .merge = chain::merging(chain::at_least(2, chance() % 6))},
                                        .asynchronous = !one_in(4)};
    if (options.chain.merge) options.chain.merge->to_whole = !options.chain.anchor_every;
    if (options.asynchronous) {
      options.on_busy = static_cast<cairn::when_busy>(chance() % 3);
      options.on_destruction = static_cast<cairn::when_destroyed>(chance() % 2);
    }
    checkpointer run(store, options);
    auto state = untrained();
    if (const auto report = run.restore(state)) {
      ++restores;
      CHECK(report->step == state.step);
      CHECK(report->skipped.empty());
    }
    if (chain::bits_of(state) != history.at(state.step)) FAIL("restored at step " << state.step);
    do {
      train(state);
      std::ignore = run.step(state, {.step = state.step, .loss = 1.0 / static_cast<double>(state.step)});
      if (one_in(30)) run.save(state, {.step = state.step});
      if (one_in(10) && run.restore(state)) {
        ++returns;
        if (chain::bits_of(state) != history.at(state.step)) FAIL("gone back to step " << state.step);
      }
      reached = std::max(reached, state.step);
    } while (state.step < 200 && !one_in(8));
    if (one_in(2)) run.wait();
  }
  CHECK(crashes > 5);
  CHECK(restores > 5);
  CHECK(returns > 2);
  for (const auto& name : store.list()) {
    INFO(name);
    if (chain::restored(store, name) != history.at(*cairn::detail::parse_checkpoint_name(name))) FAIL("other bits");
  }
}
