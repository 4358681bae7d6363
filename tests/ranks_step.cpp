// SPDX-License-Identifier: MIT
// Steps of several ranks, through the checkpointer: saves in the background.
#include "cairn/checkpointer.hpp"
#include "cairn/fields.hpp"
#include "cairn/load.hpp"
#include "cairn/schedule/policies.hpp"
#include "cairn/store/memory.hpp"

#include "catch.hpp"
#include "ranks.hpp"

namespace {

struct model {
  std::vector<float> weights;
  std::map<std::string, std::vector<double>> moments;
  std::uint64_t step = 0;

  friend bool operator==(const model&, const model&) = default;
};

model model_at(std::uint64_t step) {
  model made{std::vector<float>(50'000 + step), {}, step};
  for (std::size_t i = 0; i < made.weights.size(); ++i) made.weights[i] = static_cast<float>(i * step) / 7;
  made.moments["first"].assign(3001, static_cast<double>(step) / 3);
  return made;
}

/// Steps from `first` to `last`; the state of each differs from all others.
void train(cairn::checkpointer& checkpoints, std::uint64_t first, std::uint64_t last) {
  for (auto step = first; step <= last; ++step)
    require(!checkpoints.step(model_at(step), {.step = step, .loss = 1.0}).stop, "stopped");
}

cairn::checkpointer_options every(std::uint64_t steps) {
  auto options = quick();
  options.when = cairn::policies::every_steps{steps};
  options.on_busy = cairn::when_busy::wait;
  return options;
}

TEST_CASE("a rank copies its share alone") {
  const cairn::any_store store = cairn::stores::memory();
  std::atomic<std::uint64_t> copied{0}, largest{0}, total{0};
  CHECK(at_each(4, [&](const cairn::groups::threads& group) {
          auto options = every(1);
          options.on_event = [&](const cairn::event& what) {
            if (what.what != cairn::event::kind::copied) return;
            copied += what.bytes;
            total = what.total;
            for (auto seen = largest.load(); seen < what.bytes && !largest.compare_exchange_weak(seen, what.bytes);) {
            }
          };
          cairn::checkpointer checkpoints(store, options, group);
          train(checkpoints, 1, 1);
        }) == std::vector<std::string>(4));
  CHECK(total != 0);
  CHECK(copied == total);
  CHECK(static_cast<double>(largest) <= 0.26 * static_cast<double>(total));
}

TEST_CASE("ranks save in the background at the steps that the policy names, and any number restores") {
  for (unsigned ranks = 2; ranks <= 4; ++ranks) {
    const cairn::any_store store = cairn::stores::memory();
    CHECK(at_each(ranks, [&](const cairn::groups::threads& group) {
            cairn::checkpointer checkpoints(store, every(5), group);
            train(checkpoints, 1, 23);
            checkpoints.wait();
            require(checkpoints.steps() == std::vector<std::uint64_t>{5, 10, 15, 20}, "other steps are saved");
            require(checkpoints.stats().saves == 4 && checkpoints.stats().failed == 0, "other statistics");
            train(checkpoints, 24, 26);
          }) == std::vector<std::string>(ranks));  // the destructor finishes the save of step 25
    CHECK(store.open("step-000000025")->files().size() == ranks + 1);
    for (unsigned loaded = 1; loaded <= 4; ++loaded)
      CHECK(at_each(loaded, [&](const cairn::groups::threads& group) {
              cairn::checkpointer checkpoints(store, every(5), group);
              model state;
              const auto report = checkpoints.restore(state);
              const std::uint64_t newest = loaded == 1 ? 25 : 30;
              require(report && report->step == newest && state == model_at(report->step), "another state is restored");
              train(checkpoints, report->step + 1, 31);
            }) == std::vector<std::string>(loaded));
    model alone;
    cairn::load(store, "step-000000030", alone);
    CHECK(alone == model_at(30));
  }
}

/// Decides at one step, at rank 0 alone.
struct at_step {
  std::uint64_t step;
  unsigned rank;

  [[nodiscard]] bool should_save(const cairn::moment& now) const {
    if (rank != 0) throw std::logic_error("another rank is asked");
    return now.step == step;
  }
};

TEST_CASE("what rank 0 decides, all ranks do at the next step") {
  const cairn::any_store store = cairn::stores::memory();
  for (const bool is_asynchronous : {true, false})
    CHECK(at_each(3, [&](const cairn::groups::threads& group) {
            auto options = quick();
            options.asynchronous = is_asynchronous;
            options.when = at_step{is_asynchronous ? 3U : 13U, group.rank()};
            cairn::checkpointer checkpoints(store, options, group);
            train(checkpoints, is_asynchronous ? 1 : 11, is_asynchronous ? 8 : 18);
          }) == std::vector<std::string>(3));
  CHECK(store.list() == std::vector<std::string>{"step-000000004", "step-000000014"});
  model state;
  cairn::load(store, "step-000000014", state);
  CHECK(state == model_at(14));
}

TEST_CASE("saves that the trainer waits for are of the step of a policy of steps") {
  const cairn::any_store store = cairn::stores::memory();
  CHECK(at_each(2, [&](const cairn::groups::threads& group) {
          auto options = quick();
          options.when = cairn::policies::every_steps{4};
          options.asynchronous = false;
          cairn::checkpointer checkpoints(store, options, group);
          for (std::uint64_t step = 1; step <= 9; ++step) {
            const auto outcome = checkpoints.step(model_at(step), {.step = step});
            require(outcome.started == (step % 4 == 0), "another step is saved");
            if (outcome.started) require(outcome.save.get().bytes > 0, "no report");
          }
        }) == std::vector<std::string>(2));
  CHECK(store.list() == std::vector<std::string>{"step-000000004", "step-000000008"});
}

TEST_CASE("ranks that differ in a step throw the same error, and nothing is saved") {
  const cairn::any_store store = cairn::stores::memory();
  SECTION("a rank that skips a step") {
    const auto what = common(at_each(3, [&](const cairn::groups::threads& group) {
      cairn::checkpointer checkpoints(store, every(2), group);
      for (std::uint64_t step = 1; step <= 9; ++step)
        if (step != 2 || group.rank() != 1) static_cast<void>(checkpoints.step(model_at(step), {.step = step}));
    }));
    CHECK_THAT(what, ContainsSubstring("the ranks differ in the call: rank 0: step 2, rank 1: step 3"));
  }
  SECTION("a rank that saves while the others step") {
    const auto what = common(at_each(3, [&](const cairn::groups::threads& group) {
      cairn::checkpointer checkpoints(store, every(2), group);
      train(checkpoints, 1, 1);
      if (group.rank() == 2) checkpoints.save(model_at(2), {.step = 2});
      train(checkpoints, 2, 4);
    }));
    CHECK_THAT(what, ContainsSubstring("rank 0: step 2, rank 2: save at step 2"));
  }
  SECTION("the state") {
    const auto what = common(at_each(3, [&](const cairn::groups::threads& group) {
      cairn::checkpointer checkpoints(store, every(2), group);
      for (std::uint64_t step = 1; step <= 9; ++step) {
        auto state = model_at(step);
        if (group.rank() == 1) state.moments["second"].push_back(1);
        static_cast<void>(checkpoints.step(state, {.step = step}));
      }
    }));
    CHECK_THAT(what, ContainsSubstring("the ranks differ in the state") && ContainsSubstring("moments.second"));
  }
  SECTION("the policy") {
    const auto what = common(at_each(3, [&](const cairn::groups::threads& group) {
      cairn::checkpointer checkpoints(store, every(group.rank() == 1 ? 3 : 2), group);
      train(checkpoints, 1, 9);
    }));
    CHECK_THAT(what, ContainsSubstring("the decision to save: rank 0: save, rank 1: no save"));
  }
  SECTION("a step below the newest checkpoint") {
    const auto what = common(at_each(3, [&](const cairn::groups::threads& group) {
      cairn::checkpointer checkpoints(store, every(2), group);
      train(checkpoints, 1, 2);
      checkpoints.wait();
      checkpoints.save(model_at(7), {.step = 7});
      train(checkpoints, 3, 5);
    }));
    CHECK_THAT(what, ContainsSubstring("rank 0:") && ContainsSubstring("step 3"));
    CHECK(store.list() == std::vector<std::string>{"step-000000002", "step-000000007"});
    return;
  }
  CHECK(store.list().empty());
}

TEST_CASE("an error of one rank in the background is that of all, and the next save succeeds") {
  for (unsigned broken = 0; broken < 3; ++broken) {
    const cairn::any_store store = cairn::stores::memory();
    std::atomic<bool> writes{true};
    CHECK(at_each(3, [&](const cairn::groups::threads& group) {
            cairn::checkpointer checkpoints(broken_store(store, group.rank() == broken ? &writes : nullptr), every(2),
                                            group);
            train(checkpoints, 1, 2);
            checkpoints.wait();
            checkpoints.save(model_at(3), {.step = 3});
            writes = false;
            std::string what;
            const auto outcome = checkpoints.step(model_at(4), {.step = 4});
            require(outcome.started, "no save was started");
            try {
              checkpoints.wait();
            } catch (const cairn::error& cause) {
              what = cause.what();
            }
            require(what.find("rank " + std::to_string(broken) + ": ") != what.npos &&
                        what.find("the disk is full") != what.npos,
                    what.c_str());
            bool has_failed = false;
            try {
              static_cast<void>(outcome.save.get());
            } catch (const cairn::error&) {
              has_failed = true;
            }
            require(has_failed, "the handle has no error");
            require(checkpoints.latest() == 3, "the earlier checkpoints do not stay");
            require(checkpoints.stats().failed == 1, "another number of failures");
            checkpoints.wait();  // thrown once
            writes = true;
            train(checkpoints, 5, 6);
            checkpoints.wait();
            require(checkpoints.latest() == 6, "not saved");
          }) == std::vector<std::string>(3));
    CHECK(store.list().size() == 4);
  }
}

TEST_CASE("training goes on after an error where the options say so") {
  const cairn::any_store store = cairn::stores::memory();
  std::atomic<bool> writes{false};
  CHECK(at_each(2, [&](const cairn::groups::threads& group) {
          auto options = every(2);
          options.on_failure = cairn::when_failed::keep_training;
          cairn::checkpointer checkpoints(broken_store(store, group.rank() == 1 ? &writes : nullptr), options, group);
          train(checkpoints, 1, 7);
          checkpoints.wait();
          require(checkpoints.stats().failed >= 1, "no failure");
        }) == std::vector<std::string>(2));
  CHECK(store.list().empty());
}

TEST_CASE("while a save runs, ranks skip or replace as one process does") {
  const cairn::any_store store = cairn::stores::memory();
  for (const auto busy : {cairn::when_busy::skip, cairn::when_busy::replace})
    CHECK(at_each(2, [&](const cairn::groups::threads& group) {
            auto options = quick();
            options.when = cairn::policies::every_steps{1};
            options.on_busy = busy;
            cairn::checkpointer checkpoints(store, options, group);
            const std::uint64_t first = busy == cairn::when_busy::skip ? 1 : 101;
            train(checkpoints, first, first + 30);
            checkpoints.wait();
            require(checkpoints.stats().saves > 0 && checkpoints.stats().failed == 0, "no save");
            require(checkpoints.stats().skipped > 0, "none was skipped");
            model state;
            const auto report = checkpoints.restore(state);
            require(report && state == model_at(report->step), "another state");
          }) == std::vector<std::string>(2));
}

TEST_CASE("a signal at one rank stops all at the same step, which is saved") {
  const cairn::any_store store = cairn::stores::memory();
  for (unsigned signalled = 0; signalled < 3; ++signalled) {
    std::vector<std::uint64_t> last(3);
    CHECK(at_each(3, [&](const cairn::groups::threads& group) {
            auto options = every(50);
            if (group.rank() == signalled) options.preempt = {SIGUSR1};
            cairn::checkpointer checkpoints(store, options, group);
            for (std::uint64_t step = 100 * signalled; step < 100 * signalled + 90; ++step) {
              if (step == 100 * signalled + 60 && group.rank() == signalled) raise(SIGUSR1);
              const auto outcome = checkpoints.step(model_at(step), {.step = step});
              last[group.rank()] = step;
              if (outcome.stop) break;
            }
          }) == std::vector<std::string>(3));
    CHECK(last == std::vector<std::uint64_t>(3, 100 * signalled + 61));
    model state;
    cairn::load(store, store.list().back(), state);
    CHECK(state == model_at(100 * signalled + 61));
  }
}

TEST_CASE("the time limit of rank 0 stops all at the same step, which is saved") {
  const auto now = std::chrono::system_clock::now();
  const auto limits = [&](unsigned rank) { return now + std::chrono::hours(rank == 0 ? -1 : 1000); };
  const cairn::any_store store = cairn::stores::memory();
  std::vector<std::uint64_t> last(3);
  CHECK(at_each(3, [&](const cairn::groups::threads& group) {
          auto options = every(50);
          options.until = limits(group.rank());
          cairn::checkpointer checkpoints(store, options, group);
          for (std::uint64_t step = 1; step < 30; ++step) {
            last[group.rank()] = step;
            if (checkpoints.step(model_at(step), {.step = step}).stop) break;
          }
        }) == std::vector<std::string>(3));
  CHECK(last == std::vector<std::uint64_t>(3, 1));
  model state;
  cairn::load(store, store.list().back(), state);
  CHECK(state == model_at(1));
}

TEST_CASE("the time limit of another rank than 0 is not used") {
  const cairn::any_store store = cairn::stores::memory();
  CHECK(at_each(2, [&](const cairn::groups::threads& group) {
          auto options = every(50);
          if (group.rank() == 1) options.until = std::chrono::system_clock::now() - std::chrono::hours(1);
          cairn::checkpointer checkpoints(store, options, group);
          train(checkpoints, 1, 10);
        }) == std::vector<std::string>(2));
  CHECK(store.list().empty());
}

/// Of steps alone; throws at one rank at step 3.
struct throws_at_3 {
  static constexpr bool uses_steps_alone = true;
  bool throws;

  [[nodiscard]] bool should_save(const cairn::moment& now) const {
    if (throws && now.step == 3) throw std::runtime_error("no decision");
    return true;
  }
};

TEST_CASE("what one rank throws in a step all throw in the same call, and go on") {
  for (const bool is_asynchronous : {true, false})
    for (unsigned thrower = 0; thrower < 3; ++thrower) {
      INFO(is_asynchronous << ' ' << thrower);
      const cairn::any_store store = cairn::stores::memory();
      std::vector<std::vector<std::uint64_t>> threw(3);
      CHECK(at_each(3, [&](const cairn::groups::threads& group) {
              auto options = quick();
              options.when = throws_at_3{group.rank() == thrower};
              options.asynchronous = is_asynchronous;
              if (is_asynchronous) options.on_busy = cairn::when_busy::wait;
              cairn::checkpointer checkpoints(store, options, group);
              for (std::uint64_t step = 1; step <= 8; ++step) {
                try {
                  static_cast<void>(checkpoints.step(model_at(step), {.step = step}));
                } catch (const cairn::error& cause) {
                  threw[group.rank()].push_back(step);
                  require(std::string_view(cause.what()).find("no decision") != std::string_view::npos, cause.what());
                }
              }
              checkpoints.wait();
            }) == std::vector<std::string>(3));
      CHECK(threw == std::vector<std::vector<std::uint64_t>>(3, {4}));
      CHECK(store.list().back() == "step-000000008");
    }
}

TEST_CASE("after a signal each further step stops, too") {
  const cairn::any_store store = cairn::stores::memory();
  CHECK(at_each(2, [&](const cairn::groups::threads& group) {
          auto options = quick();
          if (group.rank() == 1) options.preempt = {SIGUSR2};
          cairn::checkpointer checkpoints(store, options, group);
          if (group.rank() == 1) raise(SIGUSR2);
          for (std::uint64_t step = 1; step <= 5; ++step)
            require(checkpoints.step(model_at(step), {.step = step}).stop, "a step does not stop");
        }) == std::vector<std::string>(2));
  CHECK(store.list().back() == "step-000000005");
}

TEST_CASE("two checkpointers of one group are told apart") {
  const cairn::any_store store = cairn::stores::memory();
  const bool is_from_first = GENERATE(true, false);  // call on, a rank takes the other one
  const bool saves = GENERATE(true, false);
  const auto thrown = at_each(2, [&](const cairn::groups::threads& group) {
    struct elsewhere : hooked_store {
      [[nodiscard]] static std::string location() { return "elsewhere"; }
    };
    cairn::checkpointer first(store, every(saves ? 1 : 50), group),
        second(elsewhere{{cairn::stores::memory(), {}}}, every(saves ? 1 : 50), group);
    for (std::uint64_t step = 1; step <= 3; ++step) {
      const bool is_swapped = group.rank() == 1 && (is_from_first || step > 1);
      static_cast<void>((is_swapped ? second : first).step(model_at(step), {.step = step}));
      static_cast<void>((is_swapped ? first : second).step(model_at(step), {.step = step}));
    }
  });
  // Where the save of one checkpointer is further than that of the other, the group itself sees the difference.
  for (const auto& each : thrown) {
    if (!saves)
      CHECK_THAT(each,
                 ContainsSubstring(is_from_first ? "the ranks differ in" : "the ranks differ in the checkpointer"));
    CHECK_THAT(each,
               ContainsSubstring("the ranks differ in") || ContainsSubstring("have started different operations"));
  }
}

TEST_CASE("a rank that an exception ends is named by the others") {
  const cairn::any_store store = cairn::stores::memory();
  const auto thrown = at_each(3, [&](const cairn::groups::threads& group) {
    cairn::checkpointer checkpoints(store, every(3), group);
    train(checkpoints, 1, 4);
    if (group.rank() == 1) throw std::runtime_error("no more data");
    train(checkpoints, 5, 9);
  });
  CHECK(thrown[1] == "no more data");
  CHECK_THAT(thrown[0], ContainsSubstring("rank 1 has ended by an exception"));
  CHECK(thrown[2] == thrown[0]);
}

TEST_CASE("destroyed checkpointers cancel the running save where the options say so") {
  const cairn::any_store store = cairn::stores::memory();
  CHECK(at_each(3, [&](const cairn::groups::threads& group) {
          auto options = every(3);
          options.on_destruction = cairn::when_destroyed::cancel;
          options.max_bytes_per_second = 1000;
          cairn::checkpointer checkpoints(store, options, group);
          train(checkpoints, 1, 3);
          checkpoints.progress();
        }) == std::vector<std::string>(3));
  CHECK(store.list().empty());
}

}  // namespace

TEST_CASE("a failure that passes: all ranks try again, and none throws") {
  for (const unsigned broken : {0U, 1U}) {
    const cairn::stores::memory base;
    std::atomic<bool> writes{false};
    const auto thrown = common(at_each(2, [&](const cairn::groups::threads& group) {
      auto options = quick();
      options.when = cairn::policies::every_steps{1};
      options.retry_for = std::chrono::hours(1);
      cairn::checkpointer run(broken_store(base, group.rank() == broken ? &writes : nullptr), options, group);
      std::uint64_t step = 0;
      const std::vector<float> state(1000, 1.0F);
      while (run.stats().failed < 2) std::ignore = run.step(state, {.step = ++step});  // the same at all ranks
      writes = true;
      while (run.stats().saves == 0) std::ignore = run.step(state, {.step = ++step});
      run.wait();
    }));
    CHECK(thrown.empty());
  }
}
