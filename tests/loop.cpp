// SPDX-License-Identifier: MIT
#include "cairn/loop.hpp"

#include <ranges>

#include "cairn/checkpointer.hpp"
#include "cairn/load.hpp"
#include "cairn/store/memory.hpp"
#include "catch.hpp"
#include "state/kept.hpp"
#include "store/sample.hpp"

namespace {

static_assert(std::ranges::input_range<cairn::loop>);
static_assert(!std::ranges::forward_range<cairn::loop>);
static_assert(std::same_as<std::ranges::range_reference_t<cairn::loop>, const cairn::batch&>);

struct trainer {
  std::vector<float> weights;
  cairn::loop data;
};

struct seen_batch {
  std::vector<std::uint64_t> items;
  std::uint64_t epoch;
  std::uint64_t first;
  bool ends_epoch;

  explicit seen_batch(const cairn::batch& b)
      : items(b.items.begin(), b.items.end()), epoch(b.epoch), first(b.first), ends_epoch(b.ends_epoch) {}
  friend bool operator==(const seen_batch&, const seen_batch&) = default;
};
using run = std::vector<seen_batch>;

/// Adds at most `most` batches of the loop.
void go(cairn::loop& data, run& seen, std::uint64_t most = ~std::uint64_t{0}) {
  if (most == 0) return;
  for (const cairn::batch& b : data) {
    seen.emplace_back(b);
    if (--most == 0) break;
  }
}

run all_of(cairn::loop data) {
  run seen;
  go(data, seen);
  return seen;
}

struct drawn {
  std::uint64_t items;
  cairn::loop_options options;
};

drawn draw_loop(std::mt19937_64& random) {
  const auto small = [&](std::uint64_t most) { return random() % (most + 1); };
  return {small(40),
          {.seed = random() % 2 ? random() : small(3),
           .batch = 1 + small(random() % 2 ? 4 : 50),
           .epochs = small(4),
           .shuffle = random() % 4 != 0,
           .drop_last = random() % 2 == 0}};
}

/// The items of the first epoch.
std::vector<std::uint64_t> order_of(std::uint64_t items, std::uint64_t seed, std::uint64_t epoch) {
  run seen = all_of(cairn::loop(items, {.seed = seed, .batch = items, .epochs = epoch + 1}));
  return seen.at(epoch).items;
}

}  // namespace

TEST_CASE("every item comes once per epoch, in batches of the size asked for") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 2000; ++round) {
    const auto [items, options] = draw_loop(random);
    const std::uint64_t left_out = options.drop_last ? items % options.batch : 0;
    std::uint64_t epoch = 0;
    std::vector<std::uint64_t> epoch_items;
    for (const auto& b : all_of(cairn::loop(items, options))) {
      CHECK(b.epoch == epoch);
      CHECK(b.first == epoch_items.size());
      epoch_items.insert(epoch_items.end(), b.items.begin(), b.items.end());
      CHECK(b.items.size() == std::min(options.batch, items - b.first));
      CHECK(b.ends_epoch == (epoch_items.size() == items - left_out));
      if (!b.ends_epoch) continue;
      ++epoch;
      if (!options.shuffle) CHECK(std::ranges::is_sorted(epoch_items));
      std::ranges::sort(epoch_items);
      CHECK(std::ranges::adjacent_find(epoch_items) == epoch_items.end());
      CHECK(epoch_items.back() < items);
      epoch_items.clear();
    }
    CHECK(epoch_items.empty());
    CHECK(epoch == (items == left_out ? 0 : options.epochs));
  }
}

TEST_CASE("over any number of restarts the batches are those of a run without any") {
  std::mt19937_64 random(2);
  for (int round = 0; round < 1000; ++round) {
    const auto [items, options] = draw_loop(random);
    const run whole = all_of(cairn::loop(items, options));
    run seen;
    trainer state{{1}, cairn::loop(items, options)};
    for (auto restarts = random() % 6; restarts > 0; --restarts) {
      go(state.data, seen, random() % (whole.size() + 2));
      const tests::kept checkpoint(state);
      run lost;
      go(state.data, lost, random() % 5);  // after the save, before the crash
      auto other = draw_loop(random).options;
      other.epochs = options.epochs;
      state = random() % 2 ? trainer{{}, cairn::loop(items, other)} : state;
      checkpoint.load(state);
    }
    go(state.data, seen);
    CHECK(seen == whole);
  }
}

TEST_CASE("with a checkpointer, saved in the body: a run that is killed continues after the last save") {
  cairn::stores::memory store;
  const cairn::loop_options options{.seed = 3, .batch = 4, .epochs = 3};
  const run whole = all_of(cairn::loop(30, options));
  run seen;
  for (const std::size_t killed_after : {3U, 5U, 100U}) {
    trainer state{{}, cairn::loop(30, options)};
    cairn::checkpointer checkpoints(store);
    checkpoints.restore(state);
    for (const cairn::batch& b : state.data) {
      seen.emplace_back(b);
      checkpoints.save(state, {.step = seen.size()});
      if (seen.size() >= killed_after) break;
    }
  }
  CHECK(seen == whole);
}

TEST_CASE("the orders are the same everywhere") {  // values from another implementation, in Python
  using list = std::vector<std::uint64_t>;
  CHECK(order_of(10, 1, 0) == list{5, 0, 8, 7, 3, 1, 9, 6, 4, 2});
  CHECK(order_of(10, 1, 1) == list{6, 2, 8, 7, 4, 5, 9, 3, 0, 1});
  CHECK(order_of(10, 2, 0) == list{4, 9, 8, 5, 0, 7, 6, 2, 3, 1});
  CHECK(order_of(7, ~std::uint64_t{0}, 3) == list{0, 6, 1, 2, 4, 5, 3});
  const auto many = order_of(1000, 42, 5);
  CHECK(list(many.begin(), many.begin() + 4) == list{777, 947, 76, 119});
  CHECK(list(many.end() - 4, many.end()) == list{791, 745, 635, 621});
}

TEST_CASE("seeds and epochs each give an order of their own, and each order is as likely") {
  std::set<std::vector<std::uint64_t>> orders;
  for (std::uint64_t seed = 0; seed < 30; ++seed)
    for (std::uint64_t epoch = 0; epoch < 5; ++epoch) orders.insert(order_of(20, seed, epoch));
  CHECK(orders.size() == 150);
  std::map<std::vector<std::uint64_t>, int> counts;
  for (std::uint64_t seed = 0; seed < 6000; ++seed) ++counts[order_of(3, seed, 0)];
  CHECK(counts.size() == 6);
  for (const auto& [order, count] : counts) CHECK(std::abs(count - 1000) < 150);
}

TEST_CASE("a checkpoint over another number of items is refused, and nothing is changed") {
  trainer state{{1}, cairn::loop(10, {.seed = 1, .batch = 3})};
  const tests::kept checkpoint(state);
  for (const std::uint64_t items : {0U, 12U}) {
    trainer other{{2}, cairn::loop(items)};
    const auto failure = sample::failure_of([&] { checkpoint.load(other); });
    CHECK(failure.code == cairn::errc::mismatch);
    CHECK(failure.says("data in kept: "));
    CHECK(failure.says("over " + std::to_string(items) + " items"));
    CHECK(failure.says("over 10 items"));
    CHECK(other.weights == std::vector<float>{2});
    CHECK(other.data.items() == items);
  }
  trainer any;  // was never told
  checkpoint.load(any);
  CHECK(all_of(any.data) == all_of(state.data));
  CHECK(any.data.items() == 10);
}

TEST_CASE("a checkpoint over other data of the same size is refused, and nothing is changed") {
  trainer state{{1}, cairn::loop(10, {.batch = 3, .data = 41})};
  const tests::kept checkpoint(state);
  trainer other{{2}, cairn::loop(10, {.batch = 3, .data = 42})};
  const auto failure = sample::failure_of([&] { checkpoint.load(other); });
  CHECK(failure.code == cairn::errc::mismatch);
  for (const auto* const part :
       {"data in kept: ", "fingerprint 42", "fingerprint 41", "leave the loop out with filter"})
    CHECK(failure.says(part));
  CHECK(other.weights == std::vector<float>{2});

  trainer same{{}, cairn::loop(10, {.batch = 3, .data = 41})};
  checkpoint.load(same);
  CHECK(same.weights == state.weights);
}

TEST_CASE("a loop over items has their number and their fingerprint") {
  const std::vector<float> images{1, 2, 3, 4, 5}, others{1, 2, 3, 4, 6};
  trainer state{{1}, cairn::loop(images, {.batch = 3})};
  CHECK(state.data.items() == 5);
  const tests::kept checkpoint(state);
  trainer same{{}, cairn::loop(5, {.batch = 3, .data = cairn::fingerprint(images)})};
  checkpoint.load(same);
  trainer other{{2}, cairn::loop(others, {.batch = 3})};
  CHECK(sample::failure_of([&] { checkpoint.load(other); }).says("fingerprint"));
  trainer named{{2}, cairn::loop(others, {.batch = 3, .data = cairn::fingerprint(images)})};
  checkpoint.load(named);
}

TEST_CASE("a fingerprint that only one side has is kept for the next checkpoint") {
  const auto keeps_42 = [](const tests::kept& checkpoint, trainer state) {
    checkpoint.load(state);
    const tests::kept next(state);
    trainer other{{}, cairn::loop(10, {.data = 43})};
    return sample::failure_of([&] { next.load(other); }).says("fingerprint 42");
  };
  const trainer with{{1}, cairn::loop(10, {.data = 42})}, without{{1}, cairn::loop(10)};
  CHECK(keeps_42(tests::kept(with), without));
  CHECK(keeps_42(tests::kept(with), {}));
  CHECK(keeps_42(tests::kept(without), with));
}

TEST_CASE("options of the program that the checkpoint replaces are reported") {
  cairn::stores::memory store;
  trainer state{{1}, cairn::loop(10, {.seed = 1, .batch = 2, .epochs = 7, .drop_last = true})};
  cairn::checkpointer(store).save(state, {.step = 1});
  std::vector<std::string> messages;
  const auto replaced_of = [&](cairn::loop data) {
    trainer resumed{{}, std::move(data)};
    cairn::checkpointer ckpt(store, {.on_event = [&](const cairn::event& what) {
                               if (what.what == cairn::event::kind::restored) messages.push_back(what.message);
                             }});
    return ckpt.restore(resumed)->replaced;
  };
  const auto line = [](const std::string& option, const std::string& here, const std::string& there) {
    return "data." + option + ": " + here + " in the program, " + there + " in the checkpoint";
  };
  using lines = std::vector<std::string>;
  CHECK(replaced_of(state.data) == lines{});
  CHECK(replaced_of({}) == lines{});
  CHECK(messages == lines{"", ""});
  CHECK(replaced_of(cairn::loop(10, {.seed = 1, .batch = 20, .drop_last = true})) == lines{line("batch", "20", "2")});
  CHECK(messages.back() == line("batch", "20", "2"));
  const lines all{line("seed", "0", "1"), line("shuffle", "false", "true"), line("drop_last", "false", "true")};
  CHECK(replaced_of(cairn::loop(10, {.batch = 2, .shuffle = false})) == all);
  CHECK(messages.back() == all[0] + "; " + all[1] + "; " + all[2]);
}

TEST_CASE("a loop that was saved before loops had fingerprints goes on") {
  for (const std::uint64_t data : {0U, 42U}) {
    trainer state{{}, cairn::loop(30, {.epochs = 3, .data = data})};
    const auto report = cairn::load(CAIRN_TESTS "/golden/loop-1/step-000000009", state);
    CHECK(report.replaced.size() == 3);  // seed, batch, drop_last
    CHECK(state.weights == std::vector<float>{1, 2});
    run seen = all_of(cairn::loop(30, {.seed = 3, .batch = 4, .epochs = 3, .drop_last = true}));
    seen.erase(seen.begin(), seen.begin() + 9);
    CHECK(all_of(state.data) == seen);
  }
}

TEST_CASE("a fingerprint depends on the number of items, and on those that are looked at") {
  std::vector<float> values(5000);
  std::iota(values.begin(), values.end(), 0.F);
  const auto whole = cairn::fingerprint(values);
  CHECK(whole == cairn::fingerprint(std::deque<float>(values.begin(), values.end())));
  std::set<std::uint64_t> all{whole, 0};
  for (const std::size_t i : {0U, 4999U}) {
    auto other = values;
    other[i] = -1;
    all.insert(cairn::fingerprint(other));
  }
  std::ranges::reverse(values);
  all.insert(cairn::fingerprint(values));
  for (const std::size_t size : {4999U, 1024U, 1023U, 1U, 0U}) {
    values.resize(size);
    all.insert(cairn::fingerprint(values));
  }
  CHECK(all.size() == 10);

  enum class label : std::uint8_t { cat, dog };
  struct image {
    std::uint32_t place;
    std::array<std::uint8_t, 3> pixels;
    label what;
  };
  const std::vector<image> images{{7, {1, 2, 3}, label::cat}, {8, {4, 5, 6}, label::dog}};
  CHECK(cairn::fingerprint(images) == cairn::fingerprint(std::array{images[0], images[1]}));
  CHECK(cairn::fingerprint(images) != cairn::fingerprint(std::array{images[1], images[0]}));
  CHECK(cairn::fingerprint(std::vector{label::cat}) != cairn::fingerprint(std::vector{label::dog}));

  using files = std::vector<std::string>;
  CHECK(cairn::fingerprint(files{"ab", "c"}) == cairn::fingerprint(files{"ab", "c"}));
  CHECK(cairn::fingerprint(files{"ab", "c"}) != cairn::fingerprint(files{"a", "bc"}));
  using tensors = std::vector<std::vector<double>>;
  CHECK(cairn::fingerprint(tensors{{1, 2}, {}}) != cairn::fingerprint(tensors{{}, {1, 2}}));
  CHECK(cairn::fingerprint(std::vector<bool>{true, false}) != cairn::fingerprint(std::vector<bool>{false, true}));
}

TEST_CASE("a fingerprint is the same in every process") {  // values from another implementation, in Python
  CHECK(cairn::fingerprint(std::vector<float>{}) == 14374147212387527897U);
  CHECK(cairn::fingerprint(std::vector{0.5F}) == 458680050370609725U);
  CHECK(cairn::fingerprint(std::vector<std::string>{"ab", "c"}) == 13966062547273118444U);
  std::vector<std::uint64_t> squares(3000);
  for (std::uint64_t i = 0; i < squares.size(); ++i) squares[i] = i * i;
  CHECK(cairn::fingerprint(squares) == 1347439596239974449U);
}

TEST_CASE("a place that no loop can be in is refused") {
  struct forged {
    std::vector<float> weights;
    cairn::detail::saved_loop data;
  };
  const std::vector<cairn::detail::saved_loop> places{{.items = 10, .batch = 0},
                                                      {.items = 10, .batch = 3, .position = 2},
                                                      {.items = 10, .batch = 5, .position = 10},
                                                      {.items = 10, .batch = 3, .position = 12},
                                                      {.items = 10, .batch = 3, .position = 9, .drop_last = true},
                                                      {.items = 0, .batch = 3, .position = 3}};
  for (const auto& place : places) {
    const forged from{{1}, place};
    const tests::kept checkpoint(from);
    for (trainer state : {trainer{{2}, cairn::loop(place.items)}, trainer{{2}, {}}}) {
      const auto failure = sample::failure_of([&] { checkpoint.load(state); });
      CHECK(failure.code == cairn::errc::corrupt);
      CHECK(state.weights == std::vector<float>{2});
    }
  }
}

TEST_CASE("epochs are what this process asks for: it ends there, and a later one may ask for more") {
  trainer state{{}, cairn::loop(5, {.seed = 9, .batch = 2, .epochs = 2})};
  run seen;
  go(state.data, seen);
  CHECK(seen.size() == 6);
  CHECK(state.data.begin() == state.data.end());
  go(state.data, seen);
  CHECK(seen.size() == 6);
  CHECK(state.data.epoch() == 2);
  CHECK(state.data.position() == 0);

  const tests::kept checkpoint(state);
  trainer again{{}, cairn::loop(5, {.epochs = 2})}, more{{}, cairn::loop(5, {.epochs = 3})};
  checkpoint.load(again);
  go(again.data, seen);
  CHECK(seen.size() == 6);
  checkpoint.load(more);
  go(more.data, seen);
  CHECK(seen == all_of(cairn::loop(5, {.seed = 9, .batch = 2, .epochs = 3})));
}

TEST_CASE("batches of nothing are refused; over nothing there are none; one may be larger than all") {
  const auto failure = sample::failure_of([] { cairn::loop(5, {.batch = 0}); });
  CHECK(failure.code == cairn::errc::invalid);
  CHECK(failure.says("0 items"));
  CHECK(all_of(cairn::loop()).empty());
  CHECK(all_of(cairn::loop(0, {.epochs = 9})).empty());
  CHECK(all_of(cairn::loop(5, {.batch = 6, .epochs = 9, .drop_last = true})).empty());
  CHECK(all_of(cairn::loop(5, {.epochs = 0})).empty());
  CHECK(all_of(cairn::loop(5, {.batch = ~std::uint64_t{0}})).at(0).items.size() == 5);
}

TEST_CASE("ranks divide a batch: in order of rank their parts are the batch, and sizes differ by at most one") {
  std::mt19937_64 random(5);
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::uint64_t> items(random() % 70);
    for (auto& item : items) item = random();  // any numbers, also the same ones
    const cairn::batch whole{items};
    const std::uint64_t ranks = 1 + random() % (random() % 2 ? 8 : 100);
    std::vector<std::uint64_t> together;
    std::size_t least = items.size(), most = 0;
    for (std::uint64_t rank = 0; rank < ranks; ++rank) {
      const auto part = whole.mine(rank, ranks);
      together.insert(together.end(), part.begin(), part.end());
      least = std::min(least, part.size());
      most = std::max(most, part.size());
    }
    CHECK(together == items);
    CHECK(most - least <= 1);
  }
  const std::vector<std::uint64_t> few{4, 5};
  const auto last = ~std::uint64_t{0};
  CHECK(cairn::batch{few}.mine(last - 1, last).empty());
  CHECK(cairn::batch{few}.mine(1, last).front() == 5);
}

TEST_CASE("a part of no rank is refused") {
  const std::vector<std::uint64_t> items{1, 2, 3};
  for (const auto& [rank, ranks] : {std::pair{0U, 0U}, std::pair{3U, 3U}, std::pair{7U, 2U}}) {
    const auto failure = sample::failure_of([&] { (void)cairn::batch{items}.mine(rank, ranks); });
    CHECK(failure.code == cairn::errc::invalid);
    CHECK(failure.says("rank " + std::to_string(rank) + " of " + std::to_string(ranks) + " ranks"));
  }
}

TEST_CASE("a job that goes on with another number of ranks uses every item once per epoch, in the same batches") {
  struct place {  // all that `mine` asks of a group
    unsigned own, of;
    [[nodiscard]] unsigned rank() const { return own; }
    [[nodiscard]] unsigned size() const { return of; }
  };
  std::mt19937_64 random(6);
  for (int round = 0; round < 300; ++round) {
    const auto [items, options] = draw_loop(random);
    const run whole = all_of(cairn::loop(items, options));
    std::vector<std::vector<std::uint64_t>> used;  // by the ranks of the job together, batch by batch
    cairn::stores::memory store;
    while (used.size() < whole.size()) {
      const auto ranks = static_cast<unsigned>(1 + random() % 6);
      const std::size_t most = used.size() + 1 + random() % whole.size();
      std::vector<std::vector<std::uint64_t>> now;
      trainer saved;
      for (unsigned rank = 0; rank < ranks; ++rank) {
        trainer state{{}, cairn::loop(items, options)};
        cairn::checkpointer(store).restore(state);
        std::size_t at = used.size();
        for (const cairn::batch& b : state.data) {
          const auto part = b.mine(place{rank, ranks});
          now.resize(std::max(now.size(), at - used.size() + 1));
          auto& together = now[at - used.size()];
          together.insert(together.end(), part.begin(), part.end());
          if (++at == most) break;
        }
        saved = state;
      }
      used.insert(used.end(), now.begin(), now.end());
      cairn::checkpointer(store).save(saved, {.step = used.size()});
    }
    CHECK(used.size() == whole.size());
    for (std::size_t i = 0; i < whole.size(); ++i) CHECK(used.at(i) == whole[i].items);
  }
}

TEST_CASE("copies go on independently") {
  cairn::loop first(20, {.seed = 4, .batch = 3, .epochs = 2});
  const run whole = all_of(first);
  run seen;
  go(first, seen, 2);
  CHECK(first.position() == 6);
  cairn::loop second = first;
  run seen_by_second = seen;
  go(first, seen);
  CHECK(second.position() == 6);
  go(second, seen_by_second);
  CHECK(seen == whole);
  CHECK(seen_by_second == whole);
}

TEST_CASE("the standard's algorithms take it, and what is saved is small") {
  cairn::loop data(1'000'000, {.batch = 1000});
  auto first_two = data | std::views::take(2);
  CHECK(std::ranges::distance(first_two) == 2);
  const trainer state{{}, data};
  std::uint64_t bytes = 0;
  for (const auto& leaf : cairn::detail::describe(state).leaves) bytes += leaf.bytes();
  CHECK(bytes == 6 * 8 + 2);
}
