// SPDX-License-Identifier: MIT
// All interleavings, within bounds, of ranks that save together; with failing calls of the store, and ranks that are
// killed.
#include "cairn/checkpointer.hpp"
#include "cairn/merge.hpp"
#include "cairn/schedule/policies.hpp"

#include <iostream>

#include "catch.hpp"
#include "interleavings/choices.hpp"
#include "interleavings/run.hpp"

namespace {

using namespace interleavings;

cairn::checkpointer_options quick(cairn::checkpointer_options options = {}) {
  options.retry_for = {};
  options.threads = 1;
  options.copy_threads = options.asynchronous ? 1 : 0;
  options.codecs = {{"*", cairn::codecs::raw{}}};
  return options;
}

cairn::checkpointer_options every(std::uint64_t steps) {
  auto options = quick();
  options.when = cairn::policies::every_steps{steps};
  return options;
}

/// Decides at each step, at rank 0 alone.
struct at_each_step {
  [[nodiscard]] bool should_save(const cairn::moment& /*now*/) const { return true; }
};

/// Makes `steps` steps, with a save that is due at each.
std::function<void(rank_run&)> trains(cairn::checkpointer_options options, std::uint64_t steps) {
  return [options = quick(std::move(options)), steps](rank_run& rank) {
    cairn::checkpointer checkpoints(rank.store, options, rank.group);
    for (std::uint64_t step = 1; step <= steps; ++step) rank.step(checkpoints, step);
  };
}

std::vector<scenario> scenarios() {
  const cairn::policies::every_steps each{1};
  return {
      {"save",
       [](rank_run& rank) {
         cairn::checkpointer checkpoints(rank.store, quick(), rank.group);
         rank.save(checkpoints, 1);
         rank.save(checkpoints, 2);
       }},
      {"chain",
       [](rank_run& rank) {
         auto options = every(1);
         options.codecs = {{"*", cairn::codecs::lossless{.xor_parent = true}}};
         options.chain.merge = cairn::merging{.every = 2};
         options.on_busy = cairn::when_busy::wait;
         cairn::checkpointer checkpoints(rank.store, options, rank.group);
         rank.save(checkpoints, 1);
         rank.step(checkpoints, 2);
         rank.step(checkpoints, 3);
         rank.wait(checkpoints);
         rank.save(checkpoints, 4);
       }},
      {"steps",
       [](rank_run& rank) {
         cairn::checkpointer checkpoints(rank.store, every(2), rank.group);
         for (std::uint64_t step = 1; step <= 4; ++step) rank.step(checkpoints, step);
         rank.wait(checkpoints);
       }},
      {"rank 0 decides", trains({.when = at_each_step{}}, 4)},
      {"busy: skip", trains({.when = each}, 3)},
      {"busy: wait", trains({.when = each, .on_busy = cairn::when_busy::wait}, 3)},
      {"busy: replace", trains({.when = each, .on_busy = cairn::when_busy::replace}, 4)},
      {"rank 0 replaces", trains({.when = at_each_step{}, .on_busy = cairn::when_busy::replace}, 5)},
      {"cancel at the end", trains({.when = each, .on_destruction = cairn::when_destroyed::cancel}, 2)},
      {"synchronous", trains({.when = cairn::policies::every_steps{2}, .asynchronous = false}, 4)},
      {"rank 0 decides, synchronous", trains({.when = at_each_step{}, .asynchronous = false}, 4)},
      {"keep training", trains({.when = each, .on_failure = cairn::when_failed::keep_training}, 4)},
      {"retention", trains({.keep_last = 1, .when = each, .on_busy = cairn::when_busy::wait}, 3), 2, true},
      {"restore",
       [](rank_run& rank) {
         cairn::checkpointer checkpoints(rank.store, every(1), rank.group);
         rank.step(checkpoints, 1);
         rank.step(checkpoints, 2);
         const auto step = rank.restore(checkpoints);
         rank.step(checkpoints, step + 1);
         rank.remove_after(checkpoints, step);
         rank.save(checkpoints, step + 1);
       },
       2, true},
      {"a rank leaves",
       [](rank_run& rank) {
         cairn::checkpointer checkpoints(rank.store, every(1), rank.group);
         rank.step(checkpoints, 1);
         rank.step(checkpoints, 2);
         if (rank.group.rank() == 1) throw std::runtime_error("the trainer fails");
         rank.step(checkpoints, 3);
         rank.wait(checkpoints);
       },
       2, false, 1},
      {"rank 0 leaves",
       [](rank_run& rank) {
         cairn::checkpointer checkpoints(rank.store, every(1), rank.group);
         rank.step(checkpoints, 1);
         rank.step(checkpoints, 2);
         if (rank.group.rank() == 0) throw std::runtime_error("the trainer fails");
         rank.save(checkpoints, 3);
         rank.step(checkpoints, 4);
       },
       2, false, 0},
      {"signal",
       [](rank_run& rank) {
         auto options = every(2);
         if (rank.group.rank() == 1) options.preempt = {SIGUSR2};
         cairn::checkpointer checkpoints(rank.store, options, rank.group);
         for (std::uint64_t step = 1; step <= 5; ++step) {
           if (step == 3 && rank.group.rank() == 1) raise(SIGUSR2);
           rank.step(checkpoints, step);
         }
         rank.wait(checkpoints);
       }},
      {"a rank leaves before its first call",
       [](rank_run& rank) {
         cairn::checkpointer checkpoints(rank.store, every(1), rank.group);
         if (rank.group.rank() == 1) throw std::runtime_error("the trainer fails");
         rank.restore(checkpoints);
         rank.step(checkpoints, 1);
       },
       2, false, 1},
      {"a rank leaves after a signal",
       [](rank_run& rank) {
         auto options = every(1);
         if (rank.group.rank() == 0) options.preempt = {SIGUSR2};
         cairn::checkpointer checkpoints(rank.store, options, rank.group);
         rank.step(checkpoints, 1);
         if (rank.group.rank() == 0) raise(SIGUSR2);
         rank.step(checkpoints, 2);
         if (rank.group.rank() == 1) throw std::runtime_error("the trainer fails");
         rank.step(checkpoints, 3);
         rank.wait(checkpoints);
       },
       2, false, 1},
      {"saves pause after a failure",
       [](rank_run& rank) {
         auto options = every(1);
         options.on_failure = cairn::when_failed::keep_training;
         cairn::checkpointer checkpoints(rank.store, options, rank.group);
         for (std::uint64_t step = 1; step <= 4; ++step) {
           rank.step(checkpoints, step);
           rank.wait(checkpoints);
         }
       }},
      {"unequal calls after a signal",
       [](rank_run& rank) {
         auto options = every(2);
         if (rank.group.rank() == 1) options.preempt = {SIGUSR2};
         cairn::checkpointer checkpoints(rank.store, options, rank.group);
         if (rank.group.rank() == 1) raise(SIGUSR2);
         rank.step(checkpoints, 1);
         rank.call("a call", [&] {
           if (rank.group.rank() == 0)
             static_cast<void>(checkpoints.step(model_at(2), {.step = 2}));
           else
             checkpoints.wait();
         });
         rank.step(checkpoints, 3);
         rank.wait(checkpoints);
       },
       2,
       false,
       {},
       true},
      {"unequal calls",
       [](rank_run& rank) {
         cairn::checkpointer checkpoints(rank.store, every(1), rank.group);
         rank.step(checkpoints, 1);
         rank.call("a call", [&] {
           if (rank.group.rank() == 0)
             static_cast<void>(checkpoints.step(model_at(2), {.step = 2}));
           else
             checkpoints.wait();
         });
         rank.step(checkpoints, 3);
         rank.wait(checkpoints);
       },
       2,
       false,
       {},
       true},
  };
}

/// Random calls, the same at all ranks.
scenario random_scenario(std::uint64_t seed, circumstances& how) {
  std::mt19937_64 random(seed);
  const auto one_of = [&](std::uint64_t number) { return random() % number == 0; };
  scenario made{.name = "random", .script = {}, .ranks = 2 + static_cast<unsigned>(random() % 2), .removes = true};
  const auto some_rank = [&] { return static_cast<unsigned>(random() % made.ranks); };
  constexpr std::uint64_t calls = 12;
  if (one_of(2)) how.failing_call = 1 + random() % 50;
  if (one_of(4)) how.failing_calls = 1 + random() % 20;
  if (one_of(2)) how.killed = {some_rank(), random() % 400};
  how.rules.notices_the_dead = one_of(2);
  how.rules.completes_early = !how.rules.notices_the_dead;
  const auto leaves_at = one_of(8) ? random() % calls : calls;
  if (leaves_at < calls) made.leaving = some_rank();
  const auto signal_at = one_of(4) ? random() % calls : calls;
  const auto signalled = some_rank();
  auto options = quick();
  options.asynchronous = !one_of(4);
  if (options.asynchronous) {
    options.on_busy = static_cast<cairn::when_busy>(random() % 3);
    if (one_of(2)) options.on_destruction = cairn::when_destroyed::cancel;
  } else {
    options.copy_threads = 0;
  }
  if (one_of(2)) options.codecs = {{"*", cairn::codecs::lossless{.xor_parent = true}}};
  if (one_of(2)) options.chain.merge = cairn::merging{.every = 2};
  if (one_of(3)) options.keep_last = 2;
  if (one_of(4)) options.on_failure = cairn::when_failed::keep_training;
  options.when = cairn::policies::every_steps{1 + random() % 3};
  if (one_of(2)) options.when = at_each_step{};
  made.script = [=, script = random(), leaving = made.leaving](rank_run& rank) {
    std::mt19937_64 chosen(script);
    auto own = options;
    if (signal_at < calls && rank.group.rank() == signalled) own.preempt = {SIGUSR2};
    cairn::checkpointer checkpoints(rank.store, own, rank.group);
    std::uint64_t step = 0;
    for (std::uint64_t call = 0; call < calls; ++call) {
      if (call == leaves_at && leaving == rank.group.rank()) throw std::runtime_error("the trainer fails");
      if (call == signal_at && signalled == rank.group.rank() && !own.preempt.received()) raise(SIGUSR2);
      const auto what = chosen() % 12;
      if (what < 7)
        rank.step(checkpoints, ++step);
      else if (what == 7)
        rank.save(checkpoints, ++step);
      else if (what == 8)
        rank.wait(checkpoints);
      else if (what == 9)
        rank.call("progress", [&] { checkpoints.progress(); });
      else if (what == 10)
        step = std::max(step, rank.restore(checkpoints));
      else if (step > 2 && rank.remove_after(checkpoints, step - 2))
        step -= 2;
    }
  };
  return made;
}

/// One run, as text: CAIRN_INTERLEAVING repeats it.
struct interleaving {
  std::string scenario;
  unsigned ranks = 2;
  circumstances how{};
  delays delayed{};
  std::uint64_t seed = 0;  // of a random one, which has all else from it

  [[nodiscard]] std::string text() const {
    if (scenario == "random") return "seed=" + std::to_string(seed) + " scenario=random";
    auto all = "ranks=" + std::to_string(ranks);
    if (how.failing_call != 0)
      all += " fails=" + std::to_string(how.failing_call) + " failing=" + std::to_string(how.failing_calls);
    if (how.killed)
      all += " killed=" + std::to_string(how.killed->first) + " after=" + std::to_string(how.killed->second);
    if (how.rules.notices_the_dead) all += " notices=1";
    if (!how.rules.completes_early) all += " late=1";
    if (!delayed.empty()) all += " delays=" + to_text(delayed);
    return all + " scenario=" + scenario;
  }

  static interleaving from(const std::string& text) {
    interleaving made;
    const auto value = [&](const std::string& name) {
      const auto at = text.find(name + "=");
      if (at == text.npos) return std::string();
      const auto begin = at + name.size() + 1;
      return text.substr(begin, name == "scenario" ? text.npos : text.find(' ', begin) - begin);
    };
    const auto number = [&](const std::string& name, std::uint64_t otherwise) {
      const auto found = value(name);
      return found.empty() ? otherwise : std::stoull(found);
    };
    made.scenario = value("scenario");
    made.ranks = static_cast<unsigned>(number("ranks", 2));
    made.how.failing_call = number("fails", 0);
    made.how.failing_calls = number("failing", 1);
    if (!value("killed").empty()) made.how.killed = {static_cast<unsigned>(number("killed", 0)), number("after", 0)};
    made.how.rules = {number("notices", 0) != 0, number("late", 0) == 0};
    made.delayed = delays_from(value("delays"));
    made.seed = number("seed", 0);
    return made;
  }
};

/// Runs it, and checks what it leaves. Returns the number of candidates at each choice.
std::vector<std::size_t> check(interleaving what, outcome* made = nullptr) {
  std::vector<std::size_t> numbers;
  scheduler::chooser choose = with_delays(what.delayed, numbers);
  scenario chosen;
  if (what.scenario == "random") {
    chosen = random_scenario(what.seed, what.how);
    choose = random_priorities(what.seed, 1 + what.seed % 4, 400);
  } else {
    const auto all = scenarios();
    chosen = *std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.name == what.scenario; });
    chosen.ranks = what.ranks;
  }
  const auto about = "Repeat it with CAIRN_INTERLEAVING='" + what.text() + "'";
  auto left = run(chosen, what.how, choose, about);
  if (!left.problem.empty()) FAIL_CHECK(left.problem << "\n" << about);
  if (made != nullptr) *made = std::move(left);
  return numbers;
}

/// How much is tried.
enum class effort { little, normal, much };

effort how_much() {
  if (std::getenv("CAIRN_LONG_TESTS") != nullptr) return effort::much;
#if defined(__SANITIZE_ADDRESS__)
  return effort::little;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
  return effort::little;
#endif
#endif
  return effort::normal;
}
bool is_long() { return how_much() == effort::much; }

/// Calls `act` with each scenario and what it leaves without faults.
template <class Act>
void for_each_scenario(unsigned ranks, const Act& act) {
  for (const auto& each : scenarios()) {
    interleaving what{.scenario = each.name, .ranks = ranks};
    outcome normal;
    check(what, &normal);
    act(what, normal);
  }
}

TEST_CASE("ranks agree in all orders", "[orders]") {
  std::size_t runs = 0;
  for (unsigned ranks = 2; ranks <= (how_much() == effort::little ? 2 : 3); ++ranks)
    for_each_scenario(ranks, [&](interleaving what, const outcome& /*normal*/) {
      for_all_delays(is_long() ? 2 : 1, [&](const delays& chosen) {
        ++runs;
        what.delayed = chosen;
        return check(what);
      });
    });
  std::cout << "interleavings: " << runs << " orders of " << scenarios().size() << " scenarios\n";
}

TEST_CASE("ranks agree when a call of the store fails", "[failures]") {
  std::size_t runs = 0;
  for (unsigned ranks = 2; ranks <= 3; ++ranks)
    for_each_scenario(ranks, [&](interleaving what, const outcome& normal) {
      for (std::size_t call = 1; call <= normal.store_calls; ++call)
        for (const std::size_t calls : {1U, 1000U}) {
          what.how.failing_call = call;
          what.how.failing_calls = calls;
          for_all_delays(is_long() ? 1 : 0, [&](const delays& chosen) {
            ++runs;
            what.delayed = chosen;
            return check(what);
          });
        }
    });
  std::cout << "interleavings: " << runs << " failures of the store\n";
}

TEST_CASE("ranks agree when one is killed", "[kills]") {
  const std::size_t every = is_long() ? 1 : how_much() == effort::normal ? 7 : 31;  // of the cases
  std::size_t cases = 0, runs = 0;
  for (unsigned ranks = 2; ranks <= 3; ++ranks)
    for_each_scenario(ranks, [&](interleaving what, const outcome& normal) {
      for (std::size_t after = 0; after < normal.scheduler_calls; ++after)
        for (unsigned rank = 0; rank < ranks; ++rank)
          for (const bool notices : {false, true}) {
            if (cases++ % every != 0) continue;
            what.how.killed = {rank, after};
            what.how.rules = {.notices_the_dead = notices, .completes_early = !notices};
            ++runs;
            check(what);
          }
    });
  std::cout << "interleavings: " << runs << " kills\n";
}

TEST_CASE("ranks agree in random calls, faults and orders", "[random]") {
  const std::uint64_t seeds = is_long() ? 100'000 : how_much() == effort::normal ? 1500 : 300;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) check({.scenario = "random", .seed = seed});
  std::cout << "interleavings: " << seeds << " random ones\n";
}

TEST_CASE("ranks that wait for a save vote less often the longer it takes", "[orders]") {
  std::vector<std::size_t> numbers;
  scheduler threads(with_delays({}, numbers), "the votes of a wait");
  const auto at = std::make_shared<meeting>(2, group_rules{});
  const hooked_store slow{cairn::stores::memory(), {.before_write = [] { scheduler::of_this_thread()->pause(1); }}};
  std::vector<lines> seen(2);
  for (unsigned rank = 0; rank < 2; ++rank)
    threads.start(rank, "rank " + std::to_string(rank), [&, rank] {
      rank_run own(model_group(at, rank), slow, seen[rank]);
      cairn::checkpointer checkpoints(own.store, every(1), own.group);
      own.step(checkpoints, 1);
      own.wait(checkpoints);
    });
  threads.run();
  for (const auto& each : seen) CHECK(each == lines{"step 1: started", "wait: done"});
  const auto votes = std::count_if(at->exchanges.begin(), at->exchanges.end(),
                                   [](const auto& each) { return each.second.what.what == meeting::kind::largest; });
  CHECK(threads.now() > 4);
  CHECK(static_cast<double>(votes) < 50 * threads.now());
}

TEST_CASE("one interleaving again", "[again]") {
  const char* const text = std::getenv("CAIRN_INTERLEAVING");
  if (text == nullptr) SKIP("CAIRN_INTERLEAVING is not set");
  outcome made;
  check(interleaving::from(text), &made);
  for (std::size_t rank = 0; rank < made.seen.size(); ++rank) {
    std::cout << "rank " << rank << "\n";
    for (const auto& line : made.seen[rank]) std::cout << "  " << line << "\n";
  }
}

}  // namespace
