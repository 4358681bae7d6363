// SPDX-License-Identifier: MIT
#include "cairn/schedule/means.hpp"

#include "catch.hpp"

namespace {

using cairn::save_kind;
using cairn::schedule::running_mean;
using cairn::schedule::save_budget;

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

running_mean mean_of(std::initializer_list<double> values) {
  running_mean mean;
  for (const double value : values) mean.add(value);
  return mean;
}

}  // namespace

TEST_CASE("a running mean is the mean of few values, and near that of many that do not drift") {
  CHECK(mean_of({}).is_empty());
  CHECK(mean_of({}).mean() == 0);
  CHECK(mean_of({3}).mean() == 3);
  CHECK(mean_of({1, 2, 3, 2}).mean() == 2);
  std::mt19937 random(1);
  for (const double scale : {1e-9, 1.0, 1e9}) {
    std::uniform_real_distribution<double> around(0.9 * scale, 1.1 * scale);
    running_mean mean;
    for (int i = 0; i < 1000; ++i) mean.add(around(random));
    CHECK(mean.mean() == Approx(scale).epsilon(0.05));
    CHECK(mean.count() == 1000);
  }
}

TEST_CASE("a running mean follows what drifts") {
  running_mean mean;
  for (int i = 0; i < 1000; ++i) mean.add(1);
  for (int i = 0; i < 60; ++i) mean.add(3);
  CHECK(mean.mean() == Approx(3).epsilon(0.05));
  for (int i = 0; i < 100; ++i) mean.add(0.1);
  CHECK(mean.mean() == Approx(0.1).epsilon(0.1));
}

TEST_CASE("one value that is far off hardly moves a running mean, first or later") {
  auto mean = mean_of({1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
  mean.add(1e9);
  CHECK(mean.mean() < 1.2);
  CHECK(mean_of({1000, 1, 1, 1}).mean() == 1);
  CHECK(mean_of({1000, 1, 1000}).mean() == 2.5);
  CHECK(mean_of({3, 1}).mean() == 2);
}

TEST_CASE("a running mean passes over what is negative or no number") {
  const auto mean = mean_of({no_number, 1, -1, infinite, 3, -infinite, no_number});
  CHECK(mean.mean() == 2);
  CHECK(mean.count() == 2);
  CHECK(mean_of({0, 0, 2}).mean() == Approx(2.0 / 3));
  const double largest = std::numeric_limits<double>::max();
  CHECK(mean_of({largest, largest, largest}).mean() == Approx(largest));
}

TEST_CASE("a running mean is what it was after a restart, and recalls no nonsense") {
  const auto kept = mean_of({1, 2, 3});
  running_mean mean;
  mean.recall({{"a", kept.remember()}}, "a");
  CHECK(mean.count() == 3);
  CHECK(mean.mean() == 2);
  for (const std::vector<double>& bad : {std::vector<double>{},
                                         {1},
                                         {1, 2, 3},
                                         {0, 1},
                                         {-1, 1},
                                         {1, -1},
                                         {no_number, 1},
                                         {1, no_number},
                                         {infinite, 1},
                                         {1, infinite}})
    mean.recall({{"a", bad}}, "a");
  mean.recall({{"b", {7, 7}}}, "a");
  CHECK(mean.count() == 3);
  CHECK(mean.mean() == 2);
}

TEST_CASE(
    "a budget: the least interval for the mean of a kind, in which one save counts for an hour's budget at most") {
  save_budget budget(2);
  CHECK_FALSE(budget.mean());
  budget.saved(save_kind::raw, 1);
  budget.saved(save_kind::delta, 3);
  budget.saved(save_kind::delta, 1e9);
  CHECK(budget.mean(save_kind::raw) == 1);
  CHECK_FALSE(budget.mean(save_kind::whole));
  CHECK(budget.mean(save_kind::delta) == Approx((3 + 72) / 2.0));
  CHECK(*budget.mean() == Approx((1 + 3 + 72) / 3.0));
  CHECK(budget.interval(1) == 50);
  save_budget longer(2, 7200);
  longer.saved(save_kind::raw, 1e9);
  CHECK(longer.mean(save_kind::raw) == 144);
  CHECK(save_budget(infinite).interval(1) == 0);
  for (const double none : {0.0, -1.0, no_number}) CHECK(save_budget(none).interval(1) == infinite);
  for (const double odd : {-1.0, no_number, infinite}) budget.saved(save_kind::raw, odd);
  CHECK(budget.mean(save_kind::raw) == 1);
  cairn::policy_memory memory;
  budget.remember(memory);
  save_budget again(2);
  again.recall(memory);
  CHECK(again.mean(save_kind::delta) == budget.mean(save_kind::delta));
  CHECK_FALSE(again.mean(save_kind::whole));
}
