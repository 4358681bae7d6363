// SPDX-License-Identifier: MIT
// Random calls of several ranks, while writes fail at random: all ranks throw the same, nobody waits for ever, and what
// is published is whole.
#include "cairn/checkpointer.hpp"
#include "cairn/load.hpp"
#include "cairn/merge.hpp"
#include "cairn/schedule/policies.hpp"
#include "cairn/store/memory.hpp"

#include "catch.hpp"
#include "ranks.hpp"

namespace {

struct model {
  std::vector<float> weights;
  cairn::per_rank<std::uint64_t> seed;
  std::map<std::string, std::vector<double>> moments;
};

model model_at(std::uint64_t step, unsigned rank) {
  model made{std::vector<float>(20'000), {100 * step + rank}, {}};
  for (std::size_t i = 0; i < made.weights.size(); ++i)
    made.weights[i] = 0.03F + 1e-6F * static_cast<float>(i % 89 + step);
  made.moments["first"].assign(1000 + step % 3, static_cast<double>(step));
  return made;
}

void require_model(const model& state, std::uint64_t step, unsigned rank) {
  const auto wanted = model_at(step, rank);
  require(state.weights == wanted.weights && state.moments == wanted.moments, "another state");
  require(state.seed.value == wanted.seed.value, "the value of another rank");
}

std::atomic<std::uint64_t> merges{0};

/// What one rank does: the calls are the same at all ranks, as they depend on `seed` alone. Returns what it has seen,
/// which must be the same.
std::string run_one(const cairn::groups::threads& group, const cairn::any_store& store, std::uint64_t seed) {
  std::mt19937_64 random(seed), own(seed * 8 + group.rank());
  cairn::checkpointer_options options;
  options.rank_timeout = std::chrono::seconds(60);
  options.asynchronous = random() % 4 != 0;
  const auto busy = static_cast<cairn::when_busy>(random() % 3);
  if (options.asynchronous) options.on_busy = busy;
  if (options.asynchronous && random() % 2 == 0) options.on_destruction = cairn::when_destroyed::cancel;
  if (random() % 2 == 0) options.codecs = {{"*", cairn::codecs::lossless{.xor_parent = true}}};
  const bool merges_deltas = !options.codecs.empty() && random() % 4 != 0;
  if (merges_deltas) {
    options.chain.anchor_every = 5 + random() % 5;
    const auto every = 2 + random() % 2;
    options.chain.merge = cairn::merging{.every = every, .to_whole = random() % 3 == 0};
  }
  if (random() % 3 == 0) options.keep_last = 3;
  const auto every = 1 + random() % 3;
  options.when = cairn::policies::every_steps{every};
  const bool leader_decides = random() % 2 == 0;
  if (leader_decides) options.when = cairn::policies::every(std::chrono::nanoseconds(1));
  const auto left = std::make_shared<std::atomic<int>>(0);  // calls that write until the one that fails; 0: none fails
  const auto fail_at_last = [left] {
    if (*left > 0 && --*left == 0) cairn::fail(cairn::errc::io, {"the disk is full"});
  };

  std::string seen;
  cairn::checkpointer checkpoints(hooked_store{store, {.before_write = fail_at_last}}, options, group);
  std::uint64_t step = 0;
  const std::uint64_t calls = merges_deltas ? 60 : 25, fails_once_in = merges_deltas ? 60 : 8;  // a merge needs deltas
  for (std::uint64_t call = 0; call < calls; ++call) {
    if (own() % fails_once_in == 0) *left = 1 + static_cast<int>(own() % 5);
    if (own() % 3 == 0) std::this_thread::yield();
    const auto what = random() % 12;
    try {
      if (what < 7) {
        ++step;
        static_cast<void>(checkpoints.step(model_at(step, group.rank()), {.step = step}));
      } else if (what == 7) {
        ++step;
        checkpoints.save(model_at(step, group.rank()), {.step = step});
        seen += " saved";
      } else if (what == 8) {
        checkpoints.wait();
      } else if (what == 9) {
        checkpoints.progress();
      } else if (what == 10) {
        model state;
        const auto report = checkpoints.restore(state);
        if (report) require_model(state, report->step, group.rank());
        step = std::max(step, report ? report->step : 0);
        seen += " restored " + std::to_string(report ? report->step : 0);
      } else if (step > 3) {
        step -= 2;
        seen += " removed " + std::to_string(checkpoints.remove_after(step));
      }
    } catch (const cairn::error& cause) {
      require(cause.code() != cairn::errc::lost_rank && cause.code() != cairn::errc::mismatch, cause.what());
      seen += std::string(" threw ") + cause.what();
    }
  }
  merges += checkpoints.stats().merged;
  return seen;
}

TEST_CASE("random calls and failures of several ranks") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    INFO("seed " << seed);
    const auto ranks = static_cast<unsigned>(2 + seed % 3);
    const cairn::any_store store = cairn::stores::memory();
    std::vector<std::string> seen(ranks);
    CHECK(at_each(ranks, [&](const cairn::groups::threads& group) {
            seen[group.rank()] = run_one(group, store, seed);
          }) == std::vector<std::string>(ranks));
    CHECK(seen == std::vector<std::string>(ranks, seen.front()));
    // What is published is whole.
    CHECK(at_each(ranks, [&](const cairn::groups::threads& group) {
            cairn::checkpointer checkpoints(store, quick(), group);
            for (const auto step : checkpoints.steps()) {
              model state;
              require(checkpoints.restore(state, {.step = step}).has_value(), "not restored");
              require_model(state, step, group.rank());
            }
          }) == std::vector<std::string>(ranks));
  }
  CHECK(merges > 20);
}

}  // namespace
