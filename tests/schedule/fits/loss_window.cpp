// SPDX-License-Identifier: MIT
#include "cairn/schedule/fits/loss_window.hpp"

#include "catch.hpp"

namespace {

using cairn::policy_memory;
using cairn::schedule::loss_window;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

double count_of(const loss_window& window) {
  double sum = 0;
  for (const auto& b : window.buckets()) sum += b.count;
  return sum;
}

double sum_of(const loss_window& window) {
  double sum = 0;
  for (const auto& b : window.buckets()) sum += b.loss_sum;
  return sum;
}

policy_memory memory_of(const loss_window& window) {
  policy_memory memory;
  window.remember(memory);
  return memory;
}

/// Steps that mostly rise, by one or by leaps, and losses of all kinds.
loss_window random_window(std::uint64_t seed, int steps) {
  std::mt19937_64 random(seed);
  loss_window window;
  double step = static_cast<double>(random() % 1000);
  for (int i = 0; i < steps; ++i) {
    const auto kind = random() % 1000;
    step = kind == 0 ? step / 2 : kind < 100 ? step + static_cast<double>(random() % 5000) : step + 1;
    const double loss = kind == 1   ? not_a_number
                        : kind == 2 ? infinity
                        : kind == 3 ? 1e9
                                    : static_cast<double>(random() % 1000);
    window.observe(step, loss);
  }
  return window;
}

loss_window falling(int steps) {
  loss_window window;
  for (int i = 0; i < steps; ++i) window.observe(i, 1 / (i + 1.0));
  return window;
}

}  // namespace

TEST_CASE("a window never holds more than its capacity, and its buckets rise") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const auto window = random_window(seed, static_cast<int>(seed * seed * 4));
    CHECK(window.buckets().size() <= loss_window::capacity);
    CHECK_FALSE(window.buckets().empty());
    double before = -1;
    for (const auto& b : window.buckets()) {
      CHECK(b.count >= 1);
      CHECK(b.last >= before);
      CHECK(b.step() <= b.last * (1 + 1e-12));
      CHECK(b.scatter_sum >= 0);
      before = b.last;
    }
    CHECK(window.last_step() == before);
  }
}

TEST_CASE("buckets hold all losses, whatever was merged") {
  for (const int steps : {1, 2, 63, 64, 65, 1000, 100000}) {
    const auto window = falling(steps);
    double sum = 0;
    for (int i = 0; i < steps; ++i) sum += 1 / (i + 1.0);
    CHECK(count_of(window) == steps);
    CHECK(sum_of(window) == Approx(sum));
  }
}

TEST_CASE("the scatter is that of the noise, without the trend, whatever was merged") {
  loss_window window;
  const int steps = 5000;
  for (int i = 0; i < steps; ++i) window.observe(i, 1000 - 0.01 * i + (i % 2 == 0 ? 1 : -1));
  double scatter = 0;
  for (const auto& b : window.buckets()) scatter += b.scatter_sum;
  CHECK(scatter / steps == Approx(2).epsilon(0.01));
}

TEST_CASE("the beginning stays fine, and no bucket takes a large share of the way") {
  const auto window = falling(100000);
  const auto buckets = window.buckets();
  CHECK(buckets.size() > loss_window::capacity / 2);
  for (std::size_t i = 0; i < 3; ++i) CHECK(buckets[i].count == 1);
  for (std::size_t i = 1; i < buckets.size(); ++i)
    CHECK(buckets[i].last - buckets[i - 1].last <= std::max(1.0, 0.25 * buckets[i].last));
}

TEST_CASE("invalid steps and losses are ignored") {
  auto window = falling(100);
  const auto before = window;
  for (const double step : {-1.0, not_a_number, infinity, -infinity, 1e101}) window.observe(step, 0.5);
  CHECK(memory_of(window) == memory_of(before));
  for (const double loss : {not_a_number, infinity, -infinity, 1e101, -1e101}) window.observe(100, loss);
  CHECK(window.passed_over() == 5);
  CHECK(count_of(window) == 100);
  window.observe(100, 0.01);
  CHECK(window.passed_over() == 0);
  CHECK(count_of(window) == 101);
}

TEST_CASE("a fall is never clipped") {
  loss_window window;
  for (int i = 0; i < 100; ++i) window.observe(i, i < 50 ? 100 : -100);
  CHECK(sum_of(window) == 0);
}

TEST_CASE("the same step again is one more loss of it") {
  loss_window window;
  for (int i = 0; i < 10; ++i) window.observe(4, i);
  CHECK(window.buckets().size() == 1);
  CHECK(window.buckets()[0].count == 10);
  CHECK(window.buckets()[0].step() == 4);
}

TEST_CASE("steps that leap beyond all measure still fit") {
  loss_window window;
  double step = 1;
  for (int i = 0; i < 330; ++i, step *= 2) window.observe(step, 1);
  CHECK(window.buckets().size() <= loss_window::capacity);
  CHECK(count_of(window) == 330);
}

TEST_CASE("a memory that is not whole changes nothing") {
  const auto window = random_window(1, 3000);
  policy_memory memory;
  window.remember(memory);
  const auto kept = memory["losses"];
  auto other = falling(10);
  const auto before = other;

  std::vector<policy_memory> bad{{}, {{"losses", {}}}, {{"losses", {1, 2, 3}}}};
  auto cut = kept;
  cut.pop_back();
  bad.push_back({{"losses", cut}});
  bad.push_back({{"losses", std::vector<double>(8 + 5 * (loss_window::capacity + 1), 1.0)}});
  for (const std::size_t at : {0U, 1U, 2U, 5U, 8U, 9U, 10U, 12U}) {
    for (const double value : {not_a_number, infinity}) {
      auto changed = kept;
      changed[at] = value;
      bad.push_back({{"losses", changed}});
    }
  }
  for (const std::size_t at : {0U, 1U, 3U, 4U, 8U, 12U}) {
    auto changed = kept;
    changed[at] = -1;
    bad.push_back({{"losses", changed}});
  }
  auto falling_steps = kept;
  falling_steps[8 + 5 * 3 + 1] = 0;
  bad.push_back({{"losses", falling_steps}});
  for (const auto& one : bad) {
    other.recall(one);
    CHECK(memory_of(other) == memory_of(before));
  }
}
