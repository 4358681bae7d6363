// SPDX-License-Identifier: MIT
#include "cairn/schedule/level_schedule.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "catch.hpp"

using cairn::schedule::level_cost;
using cairn::schedule::level_periods;
using cairn::schedule::level_schedule;
using periods = std::vector<double>;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double hour = 3600, day = 24 * hour;

/// Seconds lost per second of work, where infinite periods leave a place out.
double cost_of(const periods& all, const std::vector<level_cost>& places) {
  double sum = 0, rate = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    rate += places[i].rate;
    if (all[i] == infinite) continue;
    sum += places[i].taken / all[i] + std::exchange(rate, 0) * (all[i] / 2 + places[i].lag);
  }
  return sum;
}

std::vector<level_cost> random_places(std::mt19937& random) {
  const auto decades = [&](double from, double to) {
    return std::pow(10, std::uniform_real_distribution(from, to)(random));
  };
  std::vector<level_cost> places(std::uniform_int_distribution<std::size_t>(1, 5)(random));
  for (auto& each : places) each = {decades(-3, 2), decades(-9, -3), decades(-3, 2)};
  return places;
}

/// After one copy to each place.
level_schedule copied(const std::vector<double>& taken) {
  level_schedule all(taken.size());
  for (std::size_t i = 0; i < taken.size(); ++i) all.copied(i, taken[i], 10 * taken[i]);
  return all;
}

}  // namespace

TEST_CASE("no other periods cost less, with any places left out: on random places") {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    const auto places = random_places(random);
    const auto best = level_periods(places);
    double last = 0;
    for (const double each : best)
      if (each != infinite) CHECK(std::exchange(last, each) <= each * (1 + 1e-12));
    REQUIRE(best.back() != infinite);
    const double least = cost_of(best, places);
    for (int tries = 0; tries < 20; ++tries) {
      periods other(best.size());
      for (std::size_t i = 0; i < other.size(); ++i) {
        const double from = best[i] == infinite ? best.back() : best[i];
        other[i] = from * std::pow(10, std::normal_distribution(0.0, 0.2)(random));
      }
      std::ranges::sort(other);
      for (std::size_t i = 0; i + 1 < other.size(); ++i)
        if (std::bernoulli_distribution(0.3)(random)) other[i] = infinite;
      CHECK(cost_of(other, places) >= least * (1 - 1e-9));
    }
  }
}

TEST_CASE("each place has the period of Young's formula, neighbours that are out of order have one") {
  const auto apart = level_periods(std::vector<level_cost>{{.06, 1 / (12 * hour)}, {1.14, 1 / (30 * day)}});
  CHECK(apart[0] == Approx(std::sqrt(2 * .06 * 12 * hour)));
  CHECK(apart[1] == Approx(std::sqrt(2 * 1.14 * 30 * day)));
  const auto pooled = level_periods(std::vector<level_cost>{{.3, 1 / (100 * hour)}, {.4, 1 / (5 * hour), hour}});
  CHECK(pooled[0] == pooled[1]);
  CHECK(pooled[1] == Approx(std::sqrt(2 * .7 / (1 / (100 * hour) + 1 / (5 * hour)))));
  CHECK(level_periods({}).empty());
}

TEST_CASE("a place whose failures are too few for its costs is left out, and the next one serves them") {
  const double middle = 1 / (1000 * day), last = 1 / (10 * day);
  const auto best = level_periods(std::vector<level_cost>{{5, middle}, {6, last}});
  CHECK(best[0] == infinite);
  CHECK(best[1] == Approx(std::sqrt(2 * 6 / (middle + last))));
}

TEST_CASE("a place without a copy counts for nothing") {
  level_schedule first(2), last(2);
  first.copied(0, 0.5, 5);
  CHECK(first.period(0) == copied({0.5}).period(0));
  CHECK_FALSE(first.period(1).has_value());
  last.copied(1, 0.5, 5);
  CHECK(last.period(1).value() < first.period(0).value());  // the failures of both are its own
}

TEST_CASE("what is counted of the time away is at most a period: the rest was downtime") {
  auto run = copied({0.5});
  cairn::policy_memory before, after;
  run.remember(before);
  const double period = run.period(0).value();
  run.restarted({.away_seconds = 10 * day, .level = 1});
  run.remember(after);
  CHECK(after.at("level.1.failures")[1] - before.at("level.1.failures")[1] == Approx(period));
}

TEST_CASE("a period is not known before the first copy, and at least the time of a copy, at most an hour") {
  level_schedule run(1);
  run.worked(1000);
  CHECK_FALSE(run.period(0).has_value());
  run.copied(0, 1e-9, 20);
  CHECK(run.period(0) == 20);
  CHECK(copied({1e9}).period(0) == hour);
  level_schedule safe(std::vector{cairn::known_mtbf(std::chrono::duration<double>(infinite))});
  safe.copied(0, 1, 1);
  CHECK(safe.period(0) == hour);
}

TEST_CASE("periods grow while nothing fails, and shrink when a run was restored from that place alone") {
  auto run = copied({0.5});
  const double at_first = run.period(0).value();
  run.worked(10 * day);
  const double later = run.period(0).value();
  CHECK(later > 2 * at_first);
  auto near = run, peaceful = run, far = run;
  near.restarted({});
  peaceful.restarted({.after_failure = false, .level = 1});
  far.restarted({.level = 1});
  CHECK(near.period(0) == later);
  CHECK(peaceful.period(0) == later);
  CHECK(far.period(0).value() < 0.8 * later);
  far.restarted({.level = 7});  // a place that this run does not have
}

TEST_CASE("what was learned is kept; a memory that is damaged, or of fewer places, is ignored where it does not fit") {
  auto run = copied({0.5, 2});
  run.worked(day);
  run.restarted({.level = 2});
  cairn::policy_memory memory;
  run.remember(memory);
  level_schedule next(2);
  next.recall(memory);
  CHECK(next.period(0) == run.period(0));
  CHECK(next.period(1) == run.period(1));
  level_schedule wider(3);
  wider.recall(memory);
  CHECK_FALSE(wider.period(2).has_value());
  for (auto& [name, kept] : memory) kept.assign(2, -1);
  level_schedule untouched(2);
  untouched.recall(memory);
  CHECK_FALSE(untouched.period(0).has_value());
}
