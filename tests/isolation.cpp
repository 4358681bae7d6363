// SPDX-License-Identifier: MIT
// Nothing that the trainer does after a step returns reaches the file that is being written. Also built with the thread
// sanitizer.
#include "cairn/checkpointer.hpp"

#include "cairn/store/memory.hpp"
#include "catch.hpp"
#include "chain.hpp"

namespace {

struct row {
  std::int32_t label = 0;
  float score = 0;

  friend bool operator==(const row&, const row&) = default;
};

struct state {
  std::vector<float> weights;
  std::vector<float> moments;
  std::vector<row> rows;  // strided leaves
  std::map<std::string, std::vector<double>> slots;
  std::set<std::int64_t> seen;  // copied when it is described
  std::deque<std::string> words;
  std::optional<std::vector<bool>> mask;
  std::mt19937_64 engine;
  std::uint64_t step = 0;

  friend bool operator==(const state&, const state&) = default;
};

/// Every part gets other values, and often another size.
void change(state& now, std::mt19937& random, bool resize) {
  const auto size = [&](std::size_t n, std::size_t most) { return resize ? random() % most : n; };
  now.weights.resize(size(now.weights.size(), 300'000));
  now.moments.resize(now.weights.size());
  for (auto& w : now.weights) w = static_cast<float>(random() % 1000) / 1000.0F;
  for (auto& m : now.moments) m += 1;
  now.rows.resize(size(now.rows.size(), 50'000));
  for (auto& r : now.rows) r = {static_cast<int>(random() % 10), r.score + 1};
  for (auto& [name, values] : now.slots) values.assign(values.size(), static_cast<double>(random()));
  if (resize) {
    now.slots["slot " + std::to_string(random() % 20)].resize(random() % 5'000);
    if (now.slots.size() > 15) now.slots.clear();
    now.seen.clear();
    now.words.clear();
    now.mask.reset();
  }
  for (int i = 0; i < 20; ++i) now.seen.insert(static_cast<std::int64_t>(random()));
  for (int i = 0; i < 5; ++i) now.words.push_back(std::to_string(random()));
  if (!now.mask) now.mask.emplace(random() % 1000, true);
  now.mask->flip();
  now.engine.discard(1 + random() % 5);
  ++now.step;
}

}  // namespace

TEST_CASE("a state that is overwritten while its save runs is restored as it was at the step") {
  std::mt19937 random(1);
  for (const bool in_parts : {false, true})
    for (const bool as_chain : {false, true}) {
      INFO("in parts: " << in_parts << ", as a chain: " << as_chain);
      const cairn::stores::memory store;
      cairn::codec_rules rules;
      if (as_chain) rules = {{"*", cairn::codecs::lossless{.xor_parent = true}}};
      cairn::checkpointer run(
          store, {.keep_last = 3,
                  .when = cairn::policies::every_steps{1},
                  .threads = 2,
                  .shards = 1 + random() % 3,
                  .codecs = rules,
                  .chain = {.anchor_every = 5, .merge = chain::merging(chain::at_least(2, as_chain ? 2 : 0))},
                  .on_busy = cairn::when_busy::wait,
                  .max_staging_bytes = in_parts ? std::optional(std::uint64_t{1} << 20U) : std::nullopt});
      state now;
      std::uint64_t scribbles = 0;
      for (std::uint64_t save = 1; save <= 8; ++save) {
        change(now, random, !as_chain || save % 4 == 1);
        const state kept = now;
        CHECK(run.step(now, {.step = save}).started);
        for (int i = 0; i < 3 || run.stats().saves < save; ++i, ++scribbles) change(now, random, i % 2 == 1);
        run.wait();
        state back;
        const auto report = cairn::checkpointer(store).restore(back);
        REQUIRE(report);
        CHECK(report->step == save);
        CHECK((back == kept));
        now = kept;
      }
      CHECK(scribbles >= 24);
    }
}
