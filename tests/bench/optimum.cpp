// SPDX-License-Identifier: MIT
#include "schedule/optimum.hpp"

#include "cairn/schedule/interval.hpp"
#include "schedule/workload.hpp"
#include "catch.hpp"
#include "store/sample.hpp"

using namespace bench::schedule;
using std::chrono::duration;

namespace {

struct job {
  objective what{};
  workload expected;
  save_times saving;
  any_failures failing = failures::never{};
  any_early_stop stops = early_stops::none{};

  [[nodiscard]] cost_model charged() const { return cost_model_of(what, expected, saving, failing, stops); }
};

/// A small job with everything irregular.
job random_job(std::mt19937& random, objective what) {
  const auto real = [&](double from, double to) { return std::uniform_real_distribution<>(from, to)(random); };
  job made{.what = what,
           .expected = {},
           .saving = {.stall = real(0, 3), .background = random() % 2 ? real(0, 6) : 0, .slowdown = real(0, 0.5)}};
  const auto steps = std::uniform_int_distribution<std::size_t>(1, 11)(random);
  double loss = 5;
  for (std::size_t k = 0; k < steps; ++k) {
    made.expected.seconds.push_back(real(0.2, 3));
    made.expected.loss.push_back(loss);
    loss -= real(-0.1, 1) * loss / 3;
    made.expected.workers.push_back(std::floor(real(1, 5)));
  }
  made.expected.loss.push_back(loss);
  if (random() % 3 == 0)
    made.failing = failures::weibull{real(0.5, 2), duration<double>(real(5, 100))};
  else
    made.failing = failures::exponential{duration<double>(real(5, 100))};
  if (random() % 2) made.stops = early_stops::uniform{real(0, 0.5), real(0.5, 1), real(0, 1)};
  return made;
}

/// The cost of a plan, from the definition: what each small slice of time adds.
double cost_by_definition(const job& of, const std::vector<std::uint32_t>& saves) {
  constexpr int slices = 2000;
  const auto& [seconds, loss, workers] = of.expected;
  const auto n = seconds.size();
  const auto value = prices_of(of.what, of.expected);
  std::vector<double> begins(n + 1, 0);
  std::partial_sum(seconds.begin(), seconds.end(), begins.begin() + 1);
  const auto alive = [&](std::size_t k) { return of.stops.alive(static_cast<double>(k) / static_cast<double>(n)); };
  double cost = 0;
  for (const auto save : saves) cost += value.wait[save] * of.saving.of_a_save() * alive(save);
  double survives = 1;
  for (std::size_t k = 0; k < n; ++k) {
    const double failing = (of.failing.expected(begins[k + 1]) - of.failing.expected(begins[k])) * workers[k];
    const double counted = of.what == objective::coci ? survives - survives * std::exp(-failing) : failing;
    survives *= std::exp(-failing);
    for (int s = 0; s < slices; ++s) {
      const double now = begins[k] + seconds[k] * (s + 0.5) / slices;
      double kept = 0;
      for (const auto save : saves)
        if (begins[save] + of.saving.background <= now) kept = value.work[save];
      cost += alive(k) * counted / slices * ((value.work[k] + value.work[k + 1]) / 2 - kept);
    }
  }
  return cost;
}

/// Can the saves be made, one after the other?
bool is_possible(const job& of, const std::vector<std::uint32_t>& saves) {
  for (std::size_t i = 1; i < saves.size(); ++i) {
    double between = 0;
    for (auto k = saves[i - 1]; k < saves[i]; ++k) between += of.expected.seconds[k];
    if (between < of.saving.background) return false;
  }
  return true;
}

std::vector<std::uint32_t> chosen(std::uint32_t bits) {
  std::vector<std::uint32_t> saves;
  for (std::uint32_t k = 1; bits != 0; ++k, bits >>= 1U)
    if (bits & 1U) saves.push_back(k);
  return saves;
}

workload even(std::size_t steps, double seconds = 1) { return {.seconds = std::vector<double>(steps, seconds)}; }

}  // namespace

TEST_CASE("the expected cost of a plan is the one of the definition") {
  std::mt19937 random(1);
  for (int i = 0; i < 60; ++i) {
    const auto one = random_job(random, objectives[static_cast<std::size_t>(i) % objectives.size()]);
    const auto saves = chosen(static_cast<std::uint32_t>(random()) % (1U << (one.expected.steps() - 1)));
    if (!is_possible(one, saves)) continue;
    CHECK(expected_cost(one.charged(), saves) == Approx(cost_by_definition(one, saves)).epsilon(2e-3).margin(1e-6));
  }
}

TEST_CASE("the optimum is the best of all plans that can be made") {
  std::mt19937 random(2);
  int with_saves = 0;
  for (int i = 0; i < 400; ++i) {
    const auto one = random_job(random, objectives[static_cast<std::size_t>(i) % objectives.size()]);
    const auto charged = one.charged();
    double least = std::numeric_limits<double>::infinity();
    for (std::uint32_t bits = 0; bits < 1U << (one.expected.steps() - 1); ++bits) {
      const auto saves = chosen(bits);
      if (is_possible(one, saves)) least = std::min(least, expected_cost(charged, saves));
    }
    const auto found = optimum(charged);
    CHECK(is_possible(one, found.saves));
    CHECK(found.cost == Approx(least).epsilon(1e-9).margin(1e-12));
    CHECK(expected_cost(charged, found.saves) == Approx(found.cost).epsilon(1e-9).margin(1e-12));
    with_saves += !found.saves.empty();
  }
  CHECK(with_saves > 100);
}

TEST_CASE("where all seconds are worth the same the optimum is even, at Young's interval") {
  const save_times saving{.stall = 2};
  const auto found = optimum(cost_model_of(objective::machine_time, even(40'000), saving,
                                           failures::exponential{duration<double>(1e4)}, early_stops::none{}));
  const double young = cairn::schedule::young_interval(saving.stall, 1e4);
  REQUIRE(found.saves.size() > 100);
  CHECK(40'000.0 / static_cast<double>(found.saves.size() + 1) == Approx(young).epsilon(0.01));
  for (std::size_t i = 1; i < found.saves.size(); ++i)
    CHECK(std::abs(double(found.saves[i]) - double(found.saves[i - 1]) - young) <= 0.01 * young + 1);
}

TEST_CASE("the optimum of exploratory training follows the square root of the slope") {
  workload falling = even(100'000, 0.1);
  for (std::size_t k = 0; k <= 100'000; ++k) falling.loss.push_back(std::exp(-static_cast<double>(k) / 20'000));
  const auto charged = cost_model_of(objective::exploratory, falling, {.stall = 0.1},
                                     failures::exponential{duration<double>(2e4)}, early_stops::none{});
  const auto found = optimum(charged);
  REQUIRE(found.saves.size() > 100);
  const auto density = [&](std::size_t i) { return 3.0 / (found.saves[i + 3] - found.saves[i]); };
  for (std::size_t i = 3; i + 13 < found.saves.size(); i += 3) {
    const double between = (found.saves[i + 10] + found.saves[i + 13] - found.saves[i] - found.saves[i + 3]) / 2.0;
    CHECK(density(i + 10) / density(i) ==
          Approx(std::exp(-between / 40'000)).epsilon(0.02));  // sqrt of exp(-k / 20'000)
  }
}

TEST_CASE("no failures, no saves; free saves, a save at every boundary") {
  CHECK(optimum(cost_model_of(objective::machine_time, even(50), {.stall = 1}, failures::never{}, early_stops::none{}))
            .saves.empty());
  const auto all = optimum(cost_model_of(objective::machine_time, even(50), {},
                                         failures::exponential{duration<double>(100)}, early_stops::none{}));
  CHECK(all.saves.size() == 49);
}

TEST_CASE("a job of no or one iteration has nowhere to save") {
  for (const std::size_t steps : {0U, 1U})
    CHECK(optimum(cost_model_of(objective::worker_seconds, even(steps), {.stall = 1},
                                failures::exponential{duration<double>(1)}, early_stops::none{}))
              .saves.empty());
}

TEST_CASE("what comes after an early stop for certain is not saved") {
  const auto found =
      optimum(cost_model_of(objective::machine_time, even(1000), {.stall = 0.1},
                            failures::exponential{duration<double>(1000)}, early_stops::uniform{0.5, 0.5}));
  REQUIRE_FALSE(found.saves.empty());
  CHECK(found.saves.back() < 500);
}

TEST_CASE("costs below zero are none, and numbers that are none make no plan") {
  const auto of = [](const save_times& saving) {
    return optimum(cost_model_of(objective::machine_time, even(50), saving,
                                 failures::exponential{duration<double>(100)}, early_stops::none{}));
  };
  CHECK(of({.stall = -1, .background = -5}).saves.size() == 49);
  CHECK(sample::failure_of([] {
          (void)cost_model_of(objective::machine_time, {.seconds = {1, 0}}, {}, failures::never{}, early_stops::none{});
        }).says("takes 0"));
  CHECK(sample::failure_of([] {
          (void)cost_model_of(objective::progress, {.seconds = {1, 1}, .loss = {1}}, {}, failures::never{},
                              early_stops::none{});
        }).says("loss"));
}

TEST_CASE("a save that is published exactly at a boundary is exposed until there, and another one can begin there") {
  constexpr std::size_t steps = 12;
  const workload even{.seconds = std::vector<double>(steps, 0.5)};
  for (const std::size_t behind : {0U, 1U, 2U, 5U}) {
    const auto model = cost_model_of(objective::machine_time, even, {.stall = 0.1, .background = 0.5 * double(behind)},
                                     failures::exponential{duration<double>(64)}, early_stops::none{});
    CHECK(model.next[0] == 1);
    CHECK(model.exposed[0] == 0);
    for (std::size_t k = 1; k < steps; ++k) {
      INFO("boundary " << k << ", published " << behind << " boundaries later");
      CHECK(model.next[k] == std::min(k + std::max<std::size_t>(behind, 1), steps));
      CHECK(model.exposed[k] == model.risk[std::min(k + behind, steps)]);
    }
  }
}
