// SPDX-License-Identifier: MIT
#include "cairn/schedule/reservation.hpp"

#include "catch.hpp"

using namespace cairn::schedule;

namespace {

struct times {
  std::vector<double> steps, saves;
};

/// Times around two means.
times draw_times(std::mt19937_64& random) {
  const auto near = [&](double mean) { return std::uniform_real_distribution<>(mean / 2, 3 * mean / 2)(random); };
  const double step = std::exp(std::uniform_real_distribution<>(-5, 5)(random));
  const double save = std::exp(std::uniform_real_distribution<>(-5, 5)(random));
  times drawn;
  for (int i = 0; i < 8; ++i) drawn.steps.push_back(near(step)), drawn.saves.push_back(near(save));
  return drawn;
}

reservation measured(const times& seen, double scale = 1) {
  reservation job;
  for (const double seconds : seen.steps) job.stepped(scale * seconds);
  for (const double seconds : seen.saves) job.saved(scale * seconds);
  return job;
}

running_spread spread_of(const std::vector<double>& values) {
  running_spread all;
  for (const double value : values) all.add(value);
  return all;
}

/// The seconds left at which the first save is advised, when steps and saves take exactly these seconds.
double left_at_stop(double whole, double step, double save) {
  reservation job;
  double left = whole, unsaved = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    const auto best = job.advise(left, unsaved);
    if (best == before_end::stop) return left;
    if (best == before_end::measure) {
      left -= save;
      unsaved = 0;
      job.saved(save);
    }
    left -= step;
    unsaved += step;
    job.stepped(step);
  }
  return -1;
}

}  // namespace

TEST_CASE("mean and variance are those of the values, plus a part of the mean that falls to a quarter") {
  std::mt19937_64 random(1);
  for (std::size_t count = 1; count <= 64; ++count) {
    std::vector<double> values(count);
    for (auto& value : values) value = std::uniform_real_distribution<>(0, 9)(random);
    double sum = 0, squares = 0;
    for (const double value : values) sum += value;
    const auto n = static_cast<double>(count);
    for (const double value : values) squares += (value - sum / n) * (value - sum / n);
    const auto all = spread_of(values);
    CHECK(all.mean() == Approx(sum / n));
    CHECK(all.variance() == Approx(squares / n + std::pow(sum / n, 2) / (4 * std::min(n, 4.0))));
  }
  auto all = spread_of(std::vector<double>(100, 3.0));
  for (int i = 0; i < 1000; ++i) all.add(5);
  CHECK(all.mean() == Approx(5));  // old values are forgotten
  const double mean = all.mean();
  for (const double value : {-1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    all.add(value);
  CHECK(all.mean() == mean);
  CHECK(running_spread{}.is_empty());
  CHECK(running_spread{}.variance() == 0);
}

TEST_CASE("the expected work saved after one more step is the integral over the times of that step") {
  std::mt19937_64 random(2);
  for (int round = 0; round < 100; ++round) {
    const auto seen = draw_times(random);
    const auto job = measured(seen);
    const auto step = spread_of(seen.steps), save = spread_of(seen.saves);
    const double deviation = std::sqrt(step.variance());
    const double unsaved = std::uniform_real_distribution<>(0, 20)(random) * step.mean();
    const double left = (step.mean() + save.mean()) * std::uniform_real_distribution<>(0.2, 3)(random);
    double integral = 0;
    constexpr int parts = 20'000;
    for (int i = 0; i < parts; ++i) {
      const double z = -8 + 16 * (i + 0.5) / parts, x = step.mean() + z * deviation;
      const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::acos(-1.0)) * 16 / parts;
      integral += density * (unsaved + x) * job.saved_now(left - x, 1);
    }
    CHECK(job.saved_after_step(left, unsaved) == Approx(integral).epsilon(1e-3).margin(1e-6 * step.mean()));
  }
}

TEST_CASE("the advice: with all the time in the world train, with none stop, and once stop, always stop") {
  std::mt19937_64 random(3);
  for (int round = 0; round < 500; ++round) {
    const auto seen = draw_times(random);
    auto job = measured(seen);
    const double step = spread_of(seen.steps).mean(), save = spread_of(seen.saves).mean();
    const double unsaved = std::uniform_real_distribution<>(1, 100)(random) * step;
    CHECK(job.advise(30 * (step + save), unsaved) == before_end::train);
    CHECK(job.advise(0, unsaved) == before_end::stop);
    CHECK(job.advise(-1, unsaved) == before_end::stop);
    CHECK(job.advise(std::numeric_limits<double>::quiet_NaN(), unsaved) == before_end::stop);
    bool has_stopped = false;
    for (double left = 30 * (step + save); left > 0; left -= (step + save) / 10) {
      const bool stops = job.advise(left, unsaved) == before_end::stop;
      if (has_stopped) CHECK(stops);
      has_stopped = stops;
    }
    CHECK(has_stopped);
  }
}

TEST_CASE("the advice does not depend on the unit of time, and more unsaved work is saved earlier") {
  std::mt19937_64 random(4);
  for (int round = 0; round < 500; ++round) {
    const auto seen = draw_times(random);
    auto job = measured(seen), scaled = measured(seen, 1024);
    const double step = spread_of(seen.steps).mean(), save = spread_of(seen.saves).mean();
    for (double left = 0.1 * (step + save); left < 10 * (step + save); left *= 1.3) {
      bool stops_with_less = false;
      for (const double unsaved : {0.0, 1.0, 10.0, 1000.0}) {
        const auto best = job.advise(left, unsaved * step);
        CHECK(scaled.advise(1024 * left, 1024 * unsaved * step) == best);
        if (stops_with_less) CHECK(best == before_end::stop);
        stops_with_less = best == before_end::stop;
      }
      // A save that is made n steps later is decided as if those steps were done.
      CHECK(job.advise(left + 2 * step, 5 * step, 2) == job.advise(left, 7 * step));
    }
  }
}

TEST_CASE("while no save is measured, one is made at half of the time, and the last one at a quarter") {
  reservation job;
  CHECK(job.advise(100, 0) == before_end::train);
  job.stepped(1);
  CHECK(job.advise(50.5, 49.5) == before_end::train);
  CHECK(job.advise(50, 50) == before_end::measure);
  CHECK(job.advise(25.5, 74.5) == before_end::measure);
  CHECK(job.advise(25, 75) == before_end::stop);
  job.saved(2);  // it was measured after all
  CHECK(job.advise(25, 75) == before_end::train);
  CHECK(job.advise(2, 75) == before_end::stop);
}

TEST_CASE("jobs of equal steps and saves end with a save that fits, and waste little time") {
  for (const double step : {0.01, 0.3, 2.0})
    for (const double save : {0.01, 0.5, 4.0}) {
      const double left = left_at_stop(3600, step, save);
      CHECK(left >= save);
      CHECK(left <= 4 * save + 3 * step);
    }
}
