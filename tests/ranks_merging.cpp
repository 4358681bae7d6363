// SPDX-License-Identifier: MIT
// Merges of deltas by several ranks, through the checkpointer.
#include "cairn/checkpointer.hpp"
#include "cairn/fields.hpp"
#include "cairn/schedule/policies.hpp"
#include "cairn/store/memory.hpp"

#include <barrier>

#include "catch.hpp"
#include "chain.hpp"
#include "copying_codec.hpp"
#include "ranks.hpp"

using cairn::detail::checkpoint_name;

namespace {

const chain::state& state_at(std::uint64_t step) {
  static const auto all = [] {
    std::mt19937 random(11);
    std::vector<chain::state> made{chain::start(random, 4000)};
    while (made.size() < 20) {
      made.push_back(made.back());
      chain::train(made.back(), random);
    }
    return made;
  }();
  return all.at(step);
}

cairn::checkpointer_options merging(std::optional<std::size_t> every, bool to_whole = false) {
  auto options = quick();
  options.codecs = chain::mixed_rules();
  options.chain = {.anchor_every = 1000, .merge = chain::merging(every, to_whole)};
  options.when = cairn::policies::every_steps{1};
  options.on_busy = cairn::when_busy::wait;
  return options;
}

/// All ranks restore what is there, and save up to step `last`. Returns the merges that each rank has counted.
std::uint64_t run(const cairn::any_store& store, unsigned ranks, std::uint64_t last,
                  const cairn::checkpointer_options& options, bool in_background) {
  std::vector<std::uint64_t> merges(ranks);
  CHECK(at_each(ranks, [&](const cairn::groups::threads& group) {
          cairn::checkpointer checkpoints(store, options, group);
          chain::state state;
          const auto report = checkpoints.restore(state);
          for (auto step = report ? report->step + 1 : 1; step <= last; ++step) {
            if (in_background)
              static_cast<void>(checkpoints.step(state_at(step), {.step = step}));
            else
              checkpoints.save(state_at(step), {.step = step});
          }
          checkpoints.wait();
          require(checkpoints.stats().failed == 0, "a failure");
          merges[group.rank()] = checkpoints.stats().merged;
        }) == std::vector<std::string>(ranks));
  CHECK(merges == std::vector<std::uint64_t>(ranks, merges.front()));
  return merges.front();
}

std::size_t links(const cairn::any_store& store, std::uint64_t step) {
  return cairn::detail::chain_reader(store, checkpoint_name(step)).links().size();
}

std::size_t shards(const cairn::any_store& store, std::uint64_t step) {
  return cairn::detail::read_index(*store.open(checkpoint_name(step))).shards.size();
}

TEST_CASE("ranks merge their deltas, and what is restored are the same bits") {
  for (const bool to_whole : {false, true})
    for (unsigned ranks = 1; ranks <= 4; ++ranks) {
      const bool in_background = to_whole == (ranks % 2 == 0);
      INFO(ranks << " ranks, to_whole " << to_whole << ", in_background " << in_background);
      const cairn::any_store plain = cairn::stores::memory(), merged = cairn::stores::memory();
      run(plain, ranks, 9, merging(std::nullopt), in_background);
      CHECK(run(merged, ranks, 9, merging(3, to_whole), in_background) == 2);
      for (std::uint64_t step = 1; step <= 9; ++step) {
        CHECK(chain::restored(merged, checkpoint_name(step)) == chain::restored(plain, checkpoint_name(step)));
        CHECK(shards(merged, step) == ranks);
      }
      // Steps 4 and 7 are merged: of three deltas each.
      CHECK(links(merged, 6) == (to_whole ? 3 : 4));
      CHECK(links(merged, 7) == (to_whole ? 1 : 3));
      CHECK(links(merged, 9) == (to_whole ? 3 : 5));
      for (unsigned others = 1; others <= 4; ++others)
        CHECK(at_each(others, [&](const cairn::groups::threads& group) {
                cairn::checkpointer checkpoints(merged, quick(), group);
                chain::state state;
                require(checkpoints.restore(state)->step == 9, "another step");
                require(chain::bits_of(state) == chain::restored(plain, checkpoint_name(9)), "another state");
              }) == std::vector<std::string>(others));
    }
}

TEST_CASE("each rank merges and writes its share alone") {
  struct copying : tests::copying_codec {  // counts what is merged, in bytes of elements
    std::atomic<std::uint64_t>* merged;
    [[nodiscard]] std::optional<std::vector<std::byte>> merge(const cairn::merge_request& in) const {
      *merged += in.bytes;
      return tests::last_of(in);
    }
  };
  const cairn::any_store store = cairn::stores::memory();
  constexpr unsigned ranks = 4;
  std::vector<std::atomic<std::uint64_t>> merged(ranks);
  const auto with_counter = [&](unsigned rank) {
    auto options = merging(3);
    options.codecs = {{"*", copying{{}, &merged[rank]}}};
    return options;
  };
  CHECK(at_each(ranks, [&](const cairn::groups::threads& group) {
          cairn::checkpointer checkpoints(store, with_counter(group.rank()), group);
          for (std::uint64_t step = 3; step <= 6; ++step) checkpoints.save(state_at(step), {.step = step});
          checkpoints.wait();
          require(checkpoints.stats().merged == 1, "no merge");
        }) == std::vector<std::string>(ranks));
  const auto rules = with_counter(0).codecs;
  CHECK(chain::restored(store, checkpoint_name(6), rules) == chain::bits_of(state_at(6)));
  std::uint64_t sum = 0, largest = 0, all = 0;
  for (const auto& each : merged) {
    sum += each;
    largest = std::max(largest, each.load());
  }
  for (const auto& leaf : cairn::detail::describe(state_at(6)).leaves)
    if (leaf.bytes() >= 256) all += leaf.bytes();
  CHECK(sum == all);
  CHECK(largest < all / 2);
}

TEST_CASE("another number of ranks goes on with a chain, and merges across the change") {
  for (unsigned before = 1; before <= 4; ++before)
    for (unsigned after = 1; after <= 4; ++after) {
      const bool to_whole = (before + after) % 2 == 0;
      INFO(before << " ranks, then " << after << ", to_whole " << to_whole);
      const cairn::any_store plain = cairn::stores::memory(), merged = cairn::stores::memory();
      run(plain, before, 3, merging(std::nullopt), false);
      run(plain, after, 9, merging(std::nullopt), false);
      run(merged, before, 3, merging(4, to_whole), false);
      CHECK(run(merged, after, 9, merging(4, to_whole), false) == 2);  // of steps 2 to 5, and 6 to 9
      for (std::uint64_t step = 1; step <= 9; ++step)
        CHECK(chain::restored(merged, checkpoint_name(step)) == chain::restored(plain, checkpoint_name(step)));
      CHECK(shards(merged, 5) == after);
      CHECK(links(merged, 5) <= 2);
    }
}

/// Values that change a little from step to step.
float value_at(std::uint64_t step, std::size_t i) { return 0.03F + 1e-6F * static_cast<float>(i % 89 + step); }

TEST_CASE("where no piece stays relative, all ranks know that the merged checkpoint is whole") {
  const cairn::any_store store = cairn::stores::memory();
  std::vector<bool> deltas;
  for (const unsigned ranks : {2U, 3U})  // they cut the array differently
    CHECK(at_each(ranks, [&](const cairn::groups::threads& group) {
            auto options = merging(4);
            options.codecs = {{"*", cairn::codecs::lossless{.xor_parent = true}}};
            options.chain.anchor_every = 6;
            cairn::checkpointer checkpoints(store, options, group);
            std::vector<float> state(20'000);
            const auto report = checkpoints.restore(state);
            for (auto step = report ? report->step + 1 : 1; step <= (ranks == 2 ? 3U : 9U); ++step) {
              for (std::size_t i = 0; i < state.size(); ++i) state[i] = value_at(step, i);
              const bool is_delta = checkpoints.save(state, {.step = step}).is_delta;
              if (group.rank() == 0) deltas.push_back(is_delta);
              checkpoints.wait();
            }
            require(checkpoints.stats().merged == (ranks == 2 ? 0U : 2U), "another number of merges");
          }) == std::vector<std::string>(ranks));
  CHECK(links(store, 5) == 1);
  CHECK(deltas == std::vector{false, true, true, true, true, true, true, true, true});
}

TEST_CASE("a rank without a share takes part in a merge") {
  for (unsigned idle = 0; idle < 3; ++idle) {
    const cairn::any_store plain = cairn::stores::memory(), merged = cairn::stores::memory();
    for (const bool merges : {false, true})
      CHECK(at_each(3, [&](const cairn::groups::threads& group) {
              auto options = merging(merges ? std::optional<std::size_t>(2) : std::nullopt);
              options.rank_weight = group.rank() == idle ? 0 : 1;
              cairn::checkpointer checkpoints(merges ? merged : plain, options, group);
              for (std::uint64_t step = 1; step <= 4; ++step) checkpoints.save(state_at(step), {.step = step});
            }) == std::vector<std::string>(3));
    CHECK(links(merged, 4) == 3);
    for (std::uint64_t step = 1; step <= 4; ++step)
      CHECK(chain::restored(merged, checkpoint_name(step)) == chain::restored(plain, checkpoint_name(step)));
  }
}

TEST_CASE("a merge that fails at one rank fails at all, and leaves the chain as it was") {
  for (const bool in_background : {false, true})
    for (unsigned broken = 0; broken < 3; ++broken)
      for (int call = 1;; ++call) {
        INFO("in_background " << in_background << ", rank " << broken << " fails in call " << call);
        const cairn::any_store store = cairn::stores::memory();
        std::atomic<int> left{0};  // calls until the one that fails
        std::atomic<bool> has_failed{false};
        const auto fails = [&] {
          if (left == 0 || --left != 0) return;
          has_failed = true;
          cairn::fail(cairn::errc::io, {"the disk is full"});
        };
        std::vector<std::string> threw(3);
        CHECK(at_each(3, [&](const cairn::groups::threads& group) {
                auto options = merging(3);
                const bool is_broken = group.rank() == broken;
                options.on_event = [&, is_broken](const cairn::event& what) {  // before the merge begins
                  if (is_broken && what.what == cairn::event::kind::published && what.step == 4) left = call;
                };
                const hooked_store own{store, {.before_write = is_broken ? std::function<void()>(fails) : [] {}}};
                cairn::checkpointer checkpoints(own, options, group);
                for (std::uint64_t step = 1; step <= 4; ++step) {
                  if (!in_background)
                    checkpoints.save(state_at(step), {.step = step});
                  else
                    static_cast<void>(checkpoints.step(state_at(step), {.step = step}));
                }
                try {
                  checkpoints.wait();
                } catch (const cairn::error& cause) {
                  require(cause.code() == cairn::errc::io, cause.what());
                  threw[group.rank()] = cause.what();
                }
                require(checkpoints.stats().failed == (has_failed ? 1U : 0U), "another number of failures");
                require(checkpoints.stats().merged == (has_failed ? 0U : 1U), "another number of merges");
                left = 0;
                checkpoints.wait();
                if (group.rank() == 0) require(links(store, 4) == (has_failed ? 4U : 2U), "not the chain");
                checkpoints.wait();
                checkpoints.save(state_at(5), {.step = 5});
                checkpoints.wait();
                require(checkpoints.stats().merged == 1, "not merged after the next save");
              }) == std::vector<std::string>(3));
        CHECK(threw == std::vector<std::string>(3, threw.front()));
        CHECK(threw.front().empty() != has_failed);
        CHECK(links(store, 5) == (has_failed ? 2 : 3));
        const cairn::any_store plain = cairn::stores::memory();
        run(plain, 3, 5, merging(std::nullopt), in_background);
        for (std::uint64_t step = 1; step <= 5; ++step)
          CHECK(chain::restored(store, checkpoint_name(step)) == chain::restored(plain, checkpoint_name(step)));
        if (!has_failed) {
          CHECK(call > 3);  // the beginning, the shard, its sync
          break;
        }
      }
}

TEST_CASE("ranks do not try a merge that fails again in silence: the next step throws") {
  const cairn::any_store store = cairn::stores::memory();
  std::atomic<bool> writes{true};
  const auto thrown = common(at_each(2, [&](const cairn::groups::threads& group) {
    auto options = merging(2);
    options.retry_for = std::chrono::hours(1);
    options.on_event = [&](const cairn::event& what) {  // before the merge begins
      if (what.what == cairn::event::kind::published && what.step == 3) writes = false;
    };
    cairn::checkpointer checkpoints(broken_store(store, &writes), options, group);
    for (std::uint64_t step = 1; step <= 4; ++step) static_cast<void>(checkpoints.step(state_at(step), {.step = step}));
  }));
  CHECK(thrown.find("the disk is full") != std::string::npos);
  CHECK(store.list().size() == 3);
}

TEST_CASE("a chain that one rank cannot read is merged by none") {
  for (unsigned broken = 0; broken < 2; ++broken) {
    const cairn::any_store store = cairn::stores::memory();
    std::atomic<bool> reads{true};
    CHECK(at_each(2, [&](const cairn::groups::threads& group) {
            auto options = merging(2);
            options.on_failure = cairn::when_failed::keep_training;
            options.on_event = [&](const cairn::event& what) {  // at rank 0 before the merge begins
              if (what.what == cairn::event::kind::published && what.step == 3 && group.rank() == 0) reads = false;
            };
            const auto fails = [&](std::string_view name) {
              if (!reads && name == checkpoint_name(2)) cairn::fail(cairn::errc::io, {"the disk does not answer"});
            };
            const hooked_store own{store, {.before_open = [&, fails](std::string_view name, std::string_view) {
                                     if (group.rank() == broken) fails(name);
                                   }}};
            cairn::checkpointer checkpoints(own, options, group);
            checkpoints.save(state_at(1), {.step = 1});
            checkpoints.save(state_at(2), {.step = 2});
            checkpoints.wait();
            const auto outcome = checkpoints.step(state_at(3), {.step = 3});
            checkpoints.wait();
            require(outcome.save.get().is_delta, "not saved");
            require(checkpoints.stats().failed == 1 && checkpoints.stats().merged == 0, "it is merged");
            reads = true;
            checkpoints.wait();
            const auto next = checkpoints.step(state_at(4), {.step = 4});  // the failure delays no save
            checkpoints.wait();
            require(next.started && checkpoints.stats().merged == 1, "not merged after the next save");
          }) == std::vector<std::string>(2));
    CHECK(links(store, 3) == 3);
    CHECK(links(store, 4) == 2);
  }
}

struct rank_model {
  std::vector<float> common, box;
  cairn::per_rank<std::vector<std::uint64_t>> own;
};

constexpr std::size_t rows = 60, row = 500;

/// The rows of a rank: as many as it has turns.
std::size_t first_row(unsigned rank, unsigned ranks) { return rows * rank / ranks; }

rank_model model_of(std::uint64_t step, unsigned rank, unsigned ranks) {
  rank_model made;
  for (std::size_t i = 0; i < 20'000; ++i) made.common.push_back(value_at(step, i));
  for (auto i = first_row(rank, ranks) * row; i < first_row(rank + 1, ranks) * row; ++i)
    made.box.push_back(value_at(step, 7 * i));
  for (std::size_t i = 0; i < 200; ++i) made.own.value.push_back(100 * rank + (i + step) % 5);
  return made;
}

/// Calls `act` with the state that refers to a model.
template <class Act>
void with_state(rank_model& model, unsigned rank, unsigned ranks, const Act& act) {
  const auto first = first_row(rank, ranks), count = first_row(rank + 1, ranks) - first;
  model.box.resize(count * row);
  cairn::tensor_view<float> box(model.box.data(), {count, row});
  cairn::state all{
      {"common", model.common}, {"box", cairn::shard_of(box, {rows, row}, {first, 0})}, {"own", model.own}};
  act(all);
}

TEST_CASE("what one rank alone has is merged by that rank: values of its own, and boxes") {
  for (const bool to_whole : {false, true})
    for (unsigned ranks = 2; ranks <= 4; ++ranks) {
      INFO(ranks << " ranks, to_whole " << to_whole);
      const cairn::any_store store = cairn::stores::memory();
      CHECK(at_each(ranks, [&](const cairn::groups::threads& group) {
              auto options = merging(3, to_whole);
              options.codecs = {{"*", cairn::codecs::lossless{.xor_parent = true}}};
              cairn::checkpointer checkpoints(store, options, group);
              for (std::uint64_t step = 1; step <= 5; ++step) {
                auto model = model_of(step, group.rank(), ranks);
                with_state(model, group.rank(), ranks,
                           [&](const auto& state) { checkpoints.save(state, {.step = step}); });
              }
              checkpoints.wait();
              require(checkpoints.stats().merged == 1, "no merge");
            }) == std::vector<std::string>(ranks));
      CHECK(links(store, 4) == (to_whole ? 1 : 2));
      const cairn::detail::chain_reader reader(store, checkpoint_name(4));
      const auto box = reader.contents().find("box");
      CHECK(reader.newest().is_relative(box) == !to_whole);
      CHECK(reader.newest().slices_of(box).size() == ranks);
      for (const std::uint64_t step : {4U, 5U})
        for (const auto others : {ranks, ranks - 1})
          CHECK(at_each(others, [&](const cairn::groups::threads& group) {
                  cairn::checkpointer checkpoints(store, quick(), group);
                  rank_model restored;
                  with_state(restored, group.rank(), others, [&](auto& state) {
                    cairn::load_options how{.step = step};
                    if (others != ranks) how.filter = [](std::string_view path) { return !path.starts_with("own"); };
                    if (others != ranks) how.strict = false;
                    require(checkpoints.restore(state, how).has_value(), "nothing is restored");
                  });
                  const auto wanted = model_of(step, group.rank(), others);
                  require(restored.common == wanted.common, "another common array");
                  require(restored.box == wanted.box, "another box");
                  require(others != ranks || restored.own.value == wanted.own.value, "another value of this rank");
                }) == std::vector<std::string>(others));
    }
}

TEST_CASE("saves that the trainer waits for are merged in the background, and the next one waits for the merge") {
  const cairn::any_store store = cairn::stores::memory(), plain = cairn::stores::memory();
  auto options = merging(2);
  options.asynchronous = false;
  options.on_busy = cairn::when_busy::skip;
  CHECK(run(store, 3, 7, options, true) == 3);
  run(plain, 3, 7, merging(std::nullopt), false);
  for (std::uint64_t step = 1; step <= 7; ++step)
    CHECK(chain::restored(store, checkpoint_name(step)) == chain::restored(plain, checkpoint_name(step)));
}

TEST_CASE("a merge is cancelled for a newer save, or for the end of the run, where the options say so") {
  for (const bool replaces : {false, true}) {
    const cairn::any_store store = cairn::stores::memory();
    CHECK(at_each(3, [&](const cairn::groups::threads& group) {
            auto options = merging(3);
            options.on_busy = cairn::when_busy::replace;
            options.on_destruction = cairn::when_destroyed::cancel;
            options.max_bytes_per_second =
                1;  // of merges and of saves in the background, of which there are none before the merge
            cairn::checkpointer checkpoints(store, options, group);
            for (std::uint64_t step = 1; step <= 4; ++step) checkpoints.save(state_at(step), {.step = step});
            if (replaces) require(checkpoints.step(state_at(5), {.step = 5}).started, "no save was started");
            require(checkpoints.stats().skipped == 0 && checkpoints.stats().failed == 0, "counted as a save");
          }) == std::vector<std::string>(3));
    CHECK(links(store, 4) == 4);
    CHECK(store.list().size() == 4);
  }
}

TEST_CASE("while a merge runs, steps save nothing, and the handle of the save is done after it") {
  const cairn::any_store store = cairn::stores::memory();
  std::atomic<std::uint64_t> handles{0};
  CHECK(at_each(2, [&](const cairn::groups::threads& group) {
          auto options = merging(3);
          options.on_busy = cairn::when_busy::skip;
          cairn::checkpointer checkpoints(store, options, group);
          for (std::uint64_t step = 1; step <= 3; ++step) checkpoints.save(state_at(step), {.step = step});
          const auto outcome = checkpoints.step(state_at(4), {.step = 4});
          require(outcome.started, "no save was started");
          std::uint64_t step = 4;
          while (checkpoints.stats().saves < 4) static_cast<void>(checkpoints.step(state_at(5), {.step = 5 + step++}));
          require(!outcome.save.done(), "done before the merge");
          checkpoints.wait();
          require(outcome.save.get().is_delta, "another report");
          if (checkpoints.stats().merged == 1) ++handles;
        }) == std::vector<std::string>(2));
  CHECK(handles == 2);
}

TEST_CASE("after a merge to a whole checkpoint the next anchor is due as late as with one process") {
  std::vector<bool> alone;
  for (unsigned ranks = 1; ranks <= 4; ++ranks) {
    const cairn::any_store store = cairn::stores::memory();
    std::vector<bool> deltas;
    CHECK(at_each(ranks, [&](const cairn::groups::threads& group) {
            auto options = merging(2, true);
            options.chain.anchor_every = 4;
            cairn::checkpointer checkpoints(store, options, group);
            for (std::uint64_t step = 1; step <= 12; ++step) {
              const auto report = checkpoints.save(state_at(step), {.step = step});
              if (group.rank() == 0) deltas.push_back(report.is_delta);
              checkpoints.wait();
            }
          }) == std::vector<std::string>(ranks));
    if (ranks == 1) alone = deltas;
    CHECK(deltas == alone);
  }
  CHECK(std::count(alone.begin(), alone.end(), false) == 1);  // each merge begins a chain
}

TEST_CASE("ranks that differ in when to merge do not begin") {
  CHECK_THAT(common(at_each(2,
                            [&](const cairn::groups::threads& group) {
                              cairn::checkpointer checkpoints(cairn::stores::memory(), merging(2 + group.rank()),
                                                              group);
                              checkpoints.wait();
                            })),
             ContainsSubstring("chain.merge.every 2") && ContainsSubstring("chain.merge.every 3"));
}

TEST_CASE("after a signal no merge begins") {
  const cairn::any_store store = cairn::stores::memory();
  CHECK(at_each(2, [&](const cairn::groups::threads& group) {
          auto options = merging(2);
          options.on_busy = cairn::when_busy::skip;
          options.max_bytes_per_second = 1;  // of the save of step 3, until the signal
          if (group.rank() == 1) options.preempt = {SIGUSR1};
          cairn::checkpointer checkpoints(store, options, group);
          checkpoints.save(state_at(1), {.step = 1});
          checkpoints.save(state_at(2), {.step = 2});
          const auto outcome = checkpoints.step(state_at(3), {.step = 3});
          require(outcome.started, "no save was started");
          if (group.rank() == 1) raise(SIGUSR1);
          bool stops = false;
          for (std::uint64_t step = 4; !stops; ++step) {
            stops = checkpoints.step(state_at(4), {.step = step}).stop;
          }
          require(outcome.save.get().is_delta && checkpoints.stats().saves == 4, "not saved");
          require(checkpoints.stats().merged == 0, "merged");
        }) == std::vector<std::string>(2));
  CHECK(links(store, 3) == 3);
}

/// Waits until `number` has reached `wanted`.
void wait_until(const std::atomic<int>& number, int wanted) {
  while (number < wanted) std::this_thread::yield();
}

TEST_CASE("a checkpointer that is destroyed while a save is published begins no merge, where it is to cancel") {
  for (const bool cancels : {false, true}) {
    constexpr int ranks = 3;
    const cairn::any_store store = cairn::stores::memory();
    std::atomic<int> publishing{0}, leaving{0};
    bool is_publishing = false;
    std::barrier same_step(ranks, [&]() noexcept { is_publishing = publishing == 1; });  // one answer for all ranks
    std::atomic<std::uint64_t> merged{0};
    CHECK(at_each(ranks, [&](const cairn::groups::threads& group) {
            bool is_watched = false;
            int calls = 0;  // of the leader in step 3: begins, makes its shard, prepares it, makes the index, publishes
            const hooked_store own{store, {.before_write = [&] {
                                     if (!is_watched || group.rank() != 0 || ++calls != 5) return;
                                     ++publishing;
                                     wait_until(leaving, ranks);
                                   }}};
            auto options = merging(2);
            options.on_busy = cairn::when_busy::skip;
            if (cancels) options.on_destruction = cairn::when_destroyed::cancel;
            options.on_event = [&](const cairn::event& what) { merged += what.what == cairn::event::kind::merged; };
            cairn::checkpointer checkpoints(own, options, group);
            checkpoints.save(state_at(1), {.step = 1});
            checkpoints.save(state_at(2), {.step = 2});
            is_watched = true;
            std::uint64_t step = 3;
            do {
              static_cast<void>(checkpoints.step(state_at(3), {.step = step++}));
              same_step.arrive_and_wait();
            } while (!is_publishing);
            ++leaving;
          }) == std::vector<std::string>(ranks));
    CHECK(merged == (cancels ? 0U : static_cast<unsigned>(ranks)));
    CHECK(links(store, 3) == (cancels ? 3 : 2));
  }
}

}  // namespace
