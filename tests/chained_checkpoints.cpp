// SPDX-License-Identifier: MIT
// A run whose checkpoints are deltas to each other: codecs, chain, merging, retention and restart together in the
// checkpointer.
#include "cairn/checkpointer.hpp"

#include <sys/wait.h>

#include "cairn/inspect.hpp"
#include "cairn/store/directory.hpp"
#include "catch.hpp"
#include "chain_checks.hpp"
#include "child.hpp"
#include "copying_codec.hpp"
#include "gate.hpp"
#include "save_as.hpp"

using cairn::checkpointer;
using cairn::detail::checkpoint_name;
using chain::check_restores;
using kind = cairn::event::kind;

namespace {

/// The state after step `step` of the training, which is the same in all tests here.
chain::state state_at(std::uint64_t step, std::size_t parameters) {
  std::mt19937 random(11);
  auto state = chain::start(random, parameters);
  while (state.step < step) chain::train(state, random);
  return state;
}

/// Stores elements as they are, as a delta with a code table of its own.
struct with_tables : tests::copying_codec {
  [[nodiscard]] cairn::encode_result encode(const cairn::encode_request& in, std::span<std::byte> out) const {
    auto made = copying_codec::encode(in, out);
    cairn::code_lengths lengths{};
    for (std::size_t i = 0; i < 16; ++i) lengths[i] = std::to_integer<std::uint8_t>(in.values[i]) % 13;
    made.tables = {cairn::detail::make_code_table(lengths)};
    return made;
  }
};

/// Whether a restored second moment is zero only where it was, and at least half and at most twice as large.
bool is_near(float real, float restored) { return real <= 2 * restored && restored <= 2 * real; }

}  // namespace

TEST_CASE("a chain ends for its options alone, however many leaves bring code tables") {
  auto store = cairn::any_store(cairn::stores::memory());
  const cairn::codec_rules rules{{"*", with_tables{}}};
  checkpointer run(store, {.codecs = rules, .chain = {.anchor_every = 10}});
  std::mt19937 random(41);
  std::vector<std::vector<float>> leaves(100, std::vector<float>(64));
  for (std::uint64_t step = 1; step <= 21; ++step) {
    for (auto& leaf : leaves)
      for (auto& x : leaf) x += std::normal_distribution<float>()(random);
    CHECK(run.save(leaves, {.step = step}).is_delta == (step % 10 != 1));
  }
  std::vector<std::vector<float>> loaded;
  checkpointer reader(store, {.codecs = rules});
  CHECK(reader.restore(loaded)->links == 1);
  CHECK(loaded == leaves);
}

TEST_CASE("an anchor that is made because the parent has gone is an event") {
  auto store = cairn::any_store(cairn::stores::memory());
  std::vector<cairn::event> anchored;
  checkpointer run(store, {.codecs = chain::mixed_rules(), .on_event = [&](const cairn::event& e) {
                             if (e.what == kind::anchored) anchored.push_back(e);
                           }});
  run.save(state_at(1, 600), {.step = 1});
  CHECK(run.save(state_at(2, 600), {.step = 2}).is_delta);
  CHECK(anchored.empty());
  store.remove(checkpoint_name(2));
  CHECK_FALSE(run.save(state_at(3, 600), {.step = 3}).is_delta);
  REQUIRE(anchored.size() == 1);
  CHECK(anchored[0].step == 3);
  CHECK(anchored[0].message.find(checkpoint_name(2)) != std::string::npos);
}

TEST_CASE("second moments as ratios: never zero where they were not, within a factor of two, with their loss") {
  auto store = cairn::any_store(cairn::stores::memory());
  const cairn::codec_rules rules{{"adam.v", cairn::codecs::lc<3>{.delta = cairn::delta_kind::ratio}}};
  checkpointer run(store, {.codecs = rules, .chain = {.anchor_every = std::nullopt}});
  std::size_t lossy = 0;
  for (std::uint64_t step = 1; step <= 40; step += 3) {
    const auto state = state_at(step, 600);
    const auto report = run.save(state, {.step = step});
    chain::state loaded;
    checkpointer reader(store, {});
    const auto restored = reader.restore(loaded);
    CHECK(loaded.net.weight == state.net.weight);
    for (std::size_t i = 0; i < 600; ++i) REQUIRE(is_near(state.adam.v[i], loaded.adam.v[i]));
    const auto lost = report.lost.find("adam.v");
    if (lost == report.lost.end()) continue;
    ++lossy;
    REQUIRE(lost->second.delta_l2.has_value());
    CHECK((*lost->second.delta_l2 > 0 && *lost->second.delta_l2 < 1));
    CHECK(cairn::open(store, checkpoint_name(step)).tensor("adam.v").lost == lost->second);
    CHECK(restored->restored.at("adam.v") == cairn::restored_loss{lost->second, 1});
  }
  CHECK(lossy > 8);
}

TEST_CASE("writer and reader stay bitwise equal over 1,000 chained checkpoints, with merges and restarts in between") {
  auto store = cairn::any_store(cairn::stores::memory());
  std::mt19937 random(12), chance(13);
  auto state = chain::start(random, 600);
  std::size_t deltas = 0, merges = 0, restarts = 0, longest = 0;
  const auto options = [&](bool to_whole) {
    return cairn::checkpointer_options{
        .keep_last = 3,
        .threads = 2,
        .codecs = chain::mixed_rules(),
        .chain = {.anchor_every = to_whole ? std::nullopt : std::optional<std::size_t>(40),
                  .merge = cairn::merging{.every = 2 + chance() % 7, .to_whole = to_whole}},
        .on_event = [&](const cairn::event& e) { merges += e.what == kind::merged; }};
  };
  auto run = std::make_unique<checkpointer>(store, options(false));
  for (int save = 0; save < 1000; ++save) {
    chain::train(state, random);
    const auto report = run->save(state, {.step = state.step});
    deltas += report.is_delta;
    if (save % 7 == 0) run->wait();  // else merging continues in the background
    if (save % 7 == 0 || save > 990) check_restores(store, checkpoint_name(state.step), state);
    if (chance() % 60 == 0) {
      ++restarts;
      run.reset();
      run = std::make_unique<checkpointer>(store, options(restarts % 2 == 1));
      auto resumed = state;
      const auto restored = run->restore(resumed);
      REQUIRE(restored);
      longest = std::max(longest, restored->links);
      CHECK(restored->step == state.step);
      CHECK(chain::bits_of(resumed) == chain::restored(store, checkpoint_name(state.step)));
      state = resumed;  // the trainer goes on from what was restored
    }
  }
  run->wait();
  check_restores(store, checkpoint_name(state.step), state);
  CHECK(deltas > 900);
  CHECK(merges > 100);
  CHECK(restarts > 5);
  CHECK(longest > 3);
  CHECK(store.list().size() < 60);  // the last three, and what they are built on
}

TEST_CASE("retention keeps what a delta is built on, and lets it go when nothing needs it") {
  auto store = cairn::any_store(cairn::stores::memory());
  std::vector<std::size_t> kept;
  {
    checkpointer run(store, {.keep_last = 1, .codecs = chain::mixed_rules(), .chain = {.anchor_every = 4}});
    for (std::uint64_t step = 1; step <= 9; ++step) {
      run.save(state_at(step, 600), {.step = step});
      kept.push_back(store.list().size());
    }
  }
  CHECK(kept == std::vector<std::size_t>{1, 2, 3, 4, 1, 2, 3, 4, 1});
  checkpointer next(store, {.keep_last = 1, .codecs = chain::mixed_rules(), .chain = {.anchor_every = std::nullopt}});
  chain::state state;
  REQUIRE(next.restore(state));
  for (std::uint64_t step = 10; step <= 12; ++step) next.save(state_at(step, 600), {.step = step});
  CHECK(store.list().size() == 4);  // a new process knows what the deltas of the one before need
}

TEST_CASE("merging is reported, shortens the chain, and retention takes what it frees") {
  auto store = cairn::any_store(cairn::stores::memory());
  std::vector<std::string> merged;
  checkpointer run(store, {.keep_last = 1,
                           .codecs = chain::mixed_rules(),
                           .chain = {.anchor_every = 1000, .merge = cairn::merging{.every = 3}},
                           .on_event = [&](const cairn::event& e) {
                             if (e.what == kind::merged) merged.push_back(e.message);
                           }});
  for (std::uint64_t step = 1; step <= 7; ++step) run.save(state_at(step, 600), {.step = step});
  run.wait();
  CHECK(merged == std::vector<std::string>{"3 deltas", "3 deltas"});
  CHECK(store.list() == std::vector<std::string>{checkpoint_name(1), checkpoint_name(4), checkpoint_name(7)});
  check_restores(store, checkpoint_name(7), state_at(7, 600));
}

TEST_CASE("after a restart the chain goes on") {
  const sample::scratch scratch;
  for (std::uint64_t step = 1; step <= 6; ++step) {
    checkpointer run(scratch.path("run"), {.durable = false, .codecs = chain::mixed_rules()});
    chain::state state;
    const auto restored = run.restore(state);
    CHECK(restored.has_value() == (step > 1));
    if (restored) CHECK(restored->links == step - 1);
    const auto report = run.save(state_at(step, 600), {.step = step});
    CHECK(report.is_delta == (step > 1));
    if (step > 1) CHECK(report.parent == checkpoint_name(step - 1));
    check_restores(cairn::stores::directory(scratch.path("run")), checkpoint_name(step), state_at(step, 600));
  }
}

TEST_CASE("a missing or damaged link: the newest checkpoint that is whole is restored, and the missing one is named") {
  for (const bool is_missing : {true, false}) {
    auto store = cairn::any_store(cairn::stores::memory());
    std::vector<cairn::event> events;
    const auto options = [&] {
      return cairn::checkpointer_options{.codecs = chain::mixed_rules(),
                                         .chain = {.anchor_every = 4},
                                         .on_event = [&](const cairn::event& e) { events.push_back(e); }};
    };
    {
      checkpointer run(store, options());
      for (std::uint64_t step = 1; step <= 7; ++step) run.save(state_at(step, 600), {.step = step});
    }
    const auto bad = checkpoint_name(6);  // 5 is whole, 6 and 7 are built on it
    if (is_missing) {
      store.remove(bad);
    } else {
      auto shard = sample::get(store, bad, cairn::detail::shard_file(0, 1));
      shard.back() = static_cast<char>(shard.back() ^ 1);
      sample::put(store, bad,
                  {{cairn::detail::shard_file(0, 1), shard}, {"index.json", sample::get(store, bad, "index.json")}});
    }
    events.clear();
    checkpointer run(store, options());
    chain::state state;
    const auto report = run.restore(state);
    REQUIRE(report);
    CHECK(report->step == 5);
    REQUIRE(report->skipped.size() == (is_missing ? 1 : 2));
    CHECK(report->skipped[0].checkpoint == checkpoint_name(7));
    CHECK(report->skipped[0].reason.find(bad) != std::string::npos);
    CHECK(std::count_if(events.begin(), events.end(), [](const auto& e) { return e.what == kind::fell_back; }) ==
          (is_missing ? 1 : 2));
    CHECK(run.save(state_at(8, 600), {.step = 8}).is_delta);
    check_restores(store, checkpoint_name(8), state_at(8, 600));
  }
}

TEST_CASE("leaves that go, come back and change their size in a chain") {
  auto store = cairn::any_store(cairn::stores::memory());
  checkpointer run(store, {.codecs = {{"*", cairn::codecs::lc<3>{}}}, .chain = {.anchor_every = std::nullopt}});
  struct changing {
    std::vector<float> always = std::vector<float>(500, 1);
    std::optional<std::vector<float>> sometimes;
    std::map<std::string, std::vector<float>> many;
  } state;
  std::mt19937 random(15);
  for (std::uint64_t step = 1; step <= 30; ++step) {
    for (auto& x : state.always) x += 0.01F;
    if (random() % 2 == 0) state.sometimes.reset();
    if (random() % 2 == 0) state.sometimes = std::vector<float>(400 + random() % 2, static_cast<float>(step));
    state.many.erase(std::to_string(random() % 4));
    state.many[std::to_string(random() % 4)].assign(300, static_cast<float>(random() % 5));
    run.save(state, {.step = step});
    changing loaded;
    checkpointer reader(store, {});
    REQUIRE(reader.restore(loaded)->step == step);
    CHECK(loaded.sometimes.has_value() == state.sometimes.has_value());
    REQUIRE(loaded.many.size() == state.many.size());
    for (const auto& [key, values] : state.many) CHECK(loaded.many.at(key).size() == values.size());
  }
}

TEST_CASE("a delta is not built on a chain of which somebody has removed or replaced a link, however old") {
  for (const std::uint64_t gone : {1U, 2U, 3U, 4U})
    for (const bool is_replaced : {true, false}) {
      INFO("step " << gone << (is_replaced ? " replaced" : " removed"));
      auto store = cairn::any_store(cairn::stores::memory());
      checkpointer run(store, {.codecs = chain::mixed_rules()});
      for (std::uint64_t step = 1; step <= 4; ++step)
        CHECK(run.save(state_at(step, 600), {.step = step}).is_delta == (step > 1));
      if (is_replaced)
        tests::save_as(store, checkpoint_name(gone), state_at(9, 600), {.step = gone});
      else
        store.remove(checkpoint_name(gone));
      CHECK_FALSE(run.save(state_at(5, 600), {.step = 5}).is_delta);
      check_restores(store, checkpoint_name(5), state_at(5, 600));
      CHECK(run.save(state_at(6, 600), {.step = 6}).is_delta);
      check_restores(store, checkpoint_name(6), state_at(6, 600));
    }
}

TEST_CASE("a checkpoint that replaces its own parent is whole") {
  auto store = cairn::any_store(cairn::stores::memory());
  checkpointer run(store, {.codecs = chain::mixed_rules()});
  CHECK_FALSE(run.save(state_at(3, 600), {.step = 3}).is_delta);
  CHECK_FALSE(run.save(state_at(4, 600), {.step = 3}).is_delta);
  CHECK(run.save(state_at(5, 600), {.step = 4}).is_delta);
}

TEST_CASE("after a save that failed the next delta is built on what readers have") {
  tests::gated_store store;
  bool is_full = false;
  store.refuses = [&](std::string_view) { return is_full; };
  checkpointer run(store, {.codecs = chain::mixed_rules()});
  for (std::uint64_t step = 1; step <= 8; ++step) {
    is_full = step % 3 == 0;
    const auto failure = sample::failure_of([&] { run.save(state_at(step, 600), {.step = step}); });
    CHECK(failure.says("the disk is full") == is_full);
    if (!is_full) check_restores(store.inner, checkpoint_name(step), state_at(step, 600));
  }
  CHECK(store.list().size() == 6);
}

TEST_CASE("a merge that fails is reported, thrown once by wait, and leaves all as it was") {
  tests::gated_store store;
  std::atomic<bool> is_full = false;
  store.refuses = [&](std::string_view) { return is_full.load(); };
  std::size_t failures = 0;
  checkpointer run(store, {.codecs = chain::mixed_rules(),
                           .chain = {.anchor_every = 1000, .merge = cairn::merging{.every = 3}},
                           .on_event = [&](const cairn::event& e) {
                             failures += e.what == kind::failed;
                             if (e.what == kind::published && e.step == 4) is_full = true;  // before the merge begins
                           }});
  for (std::uint64_t step = 1; step <= 4; ++step) run.save(state_at(step, 600), {.step = step});
  CHECK(sample::failure_of([&] { run.wait(); }).says("the disk is full"));
  CHECK(failures == 1);
  CHECK_NOTHROW(run.wait());
  is_full = false;
  run.save(state_at(5, 600), {.step = 5});
  CHECK_NOTHROW(run.wait());
  CHECK(cairn::detail::chain_reader(store.inner, checkpoint_name(5)).links().size() == 2);  // it is made up for
  check_restores(store.inner, checkpoint_name(5), state_at(5, 600));
}

TEST_CASE("killed at any moment of saving, merging and pruning, the newest checkpoint restores and the run goes on") {
  const sample::scratch scratch;
  const auto root = scratch.path("run");
  std::mt19937 random(14);
  std::uint64_t newest = 0;
  for (int round = 0; round < 25; ++round) {
    INFO("round " << round);
    tests::channel saves;
    const pid_t child = tests::start_child(saves, [&](const tests::channel& out) {
      checkpointer run(root,
                       {.keep_last = 2,
                        .durable = false,
                        .codecs = chain::mixed_rules(),
                        .chain = {.anchor_every = 9, .merge = cairn::merging{.every = 2, .to_whole = round % 3 == 0}}});
      chain::state state;
      const auto restored = run.restore(state);
      if (restored && !restored->skipped.empty()) ::_exit(5);
      for (auto step = (restored ? restored->step : 0) + 1;; ++step) {
        run.save(state_at(step, 600), {.step = step});
        out.send("!");
      }
    });
    char byte = 0;
    for (auto n = random() % 4; n > 0; --n) REQUIRE(saves.receive(byte));
    for (volatile auto spin = random() % 400'000; spin > 0;) spin = spin - 1;
    REQUIRE(tests::kill_child(child));
    const cairn::any_store store = cairn::stores::directory(root);
    const auto names = store.list();
    REQUIRE((!names.empty() || newest == 0));
    if (names.empty()) continue;
    const auto step = *cairn::detail::parse_checkpoint_name(names.back());
    CHECK(step >= newest);
    newest = step;
    for (std::size_t i = names.size() - std::min<std::size_t>(names.size(), 2); i < names.size(); ++i)
      check_restores(store, names[i], state_at(*cairn::detail::parse_checkpoint_name(names[i]), 600));
  }
  CHECK(newest > 10);
}

TEST_CASE("later checkpoints record what restores from lossy ones have lost") {
  cairn::any_store store = cairn::stores::memory();
  std::mt19937 random(31);
  auto state = chain::start(random, 800);
  const auto run_with = [&](const cairn::codec_rules& codecs) {
    return cairn::checkpointer(store,
                               {.when = cairn::policies::every_steps{1}, .codecs = codecs, .asynchronous = false});
  };
  const auto save = [&](cairn::checkpointer& run, std::uint64_t step) {
    chain::train(state, random);
    static_cast<void>(run.step(state, {.step = step}));
  };
  {
    auto run = run_with(chain::mixed_rules());
    save(run, 1);
    save(run, 2);  // a lossy delta
  }
  const auto lost = cairn::open(store, cairn::detail::checkpoint_name(2)).tensor("net.weight").lost;
  REQUIRE(lost);
  REQUIRE(lost->max_error > 0);
  {
    auto run = run_with({});
    const auto report = run.restore(state);
    REQUIRE(report);
    CHECK(report->restored.at("net.weight") == cairn::restored_loss{*lost, 1});
    CHECK_FALSE(report->restored.contains("step"));
    save(run, 3);
    save(run, 4);
  }
  const auto tensor = cairn::open(store, cairn::detail::checkpoint_name(4)).tensor("net.weight");
  CHECK_FALSE(tensor.lost);
  CHECK(tensor.restored == cairn::restored_loss{*lost, 1});
  CHECK(cairn::open(store, cairn::detail::checkpoint_name(4)).tensor("step").restored.restores == 0);
  {
    auto run = run_with(chain::mixed_rules());
    CHECK(run.restore(state)->restored.at("net.weight") ==
          cairn::restored_loss{*lost, 1});  // nothing was lost this time
    save(run, 5);
    save(run, 6);
  }
  const auto more = cairn::open(store, cairn::detail::checkpoint_name(6)).tensor("net.weight").lost;
  REQUIRE(more);
  const auto twice = run_with({}).restore(state)->restored.at("net.weight");
  CHECK(twice.restores == 2);
  CHECK(twice.sum.max_error == lost->max_error + more->max_error);
}

TEST_CASE("a merge is due of deltas that somebody else has merged since they were restored") {
  cairn::any_store store = cairn::stores::memory();
  std::mt19937 random(33);
  auto state = chain::start(random, 800);
  cairn::checkpointer_options options{.codecs = {{"*", cairn::codecs::lossless{.xor_parent = true}}},
                                      .chain = {.anchor_every = 1000}};
  {
    cairn::checkpointer run(store, options);
    for (std::uint64_t step = 1; step <= 4; ++step) {
      chain::train(state, random);
      run.save(state, {.step = step});
    }
  }
  options.chain.merge = cairn::merging{.every = 4};
  cairn::checkpointer run(store, options);
  REQUIRE(run.restore(state));
  cairn::merge_checkpoints(store, cairn::detail::checkpoint_name(4), {.deltas = 3});
  chain::train(state, random);
  run.save(state, {.step = 5});
  CHECK_NOTHROW(run.wait());
  CHECK(run.stats().merged == 1);
  CHECK(chain::restored(store, cairn::detail::checkpoint_name(5)) == chain::bits_of(state));
}

TEST_CASE("a merge keeps the losses of earlier restores") {
  cairn::any_store store = cairn::stores::memory();
  std::mt19937 random(32);
  auto state = chain::start(random, 800);
  const auto steps = [&](std::uint64_t from, std::uint64_t to) {
    cairn::checkpointer run(
        store, {.when = cairn::policies::every_steps{1}, .codecs = chain::mixed_rules(), .asynchronous = false});
    static_cast<void>(run.restore(state));
    for (auto step = from; step <= to; ++step) {
      chain::train(state, random);
      static_cast<void>(run.step(state, {.step = step}));
    }
  };
  steps(1, 2);
  steps(3, 5);
  const auto before = cairn::open(store, cairn::detail::checkpoint_name(5)).tensor("net.weight").restored;
  CHECK(before.restores == 1);
  cairn::merge_checkpoints(store, cairn::detail::checkpoint_name(5), {.deltas = 2});
  CHECK(cairn::open(store, cairn::detail::checkpoint_name(5)).tensor("net.weight").restored == before);
}

TEST_CASE("texts of the user are in every checkpoint") {
  const std::map<std::string, std::string> texts{{"commit", "0123abcd"}, {"note", "a \"b\"\n\u00e9"}};
  cairn::any_store store = cairn::stores::memory();
  std::mt19937 random(33);
  auto state = chain::start(random, 10);
  {
    cairn::checkpointer run(store, {.when = cairn::policies::every_steps{1}, .metadata = texts});
    static_cast<void>(run.step(state, {.step = 1}));
  }
  CHECK(cairn::open(store, cairn::detail::checkpoint_name(1)).metadata() == texts);
  CHECK(cairn::checkpointer(store).restore(state)->metadata == texts);
  cairn::save(store, "once", state, {.metadata = texts});
  CHECK(cairn::open(store, "once").metadata() == texts);
  CHECK(sample::failure_of([&] { cairn::save(store, "bad", state, {.metadata = {{"a", "\xff"}}}); }).says("a: \""));
}
