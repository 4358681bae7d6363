// SPDX-License-Identifier: MIT
#include "schedule/failure_models.hpp"

#include "catch.hpp"

namespace {

using namespace bench::schedule;
using namespace bench::schedule::failures;
using std::chrono::seconds;
using duration = std::chrono::duration<double>;

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
constexpr double largest = std::numeric_limits<double>::max();
constexpr double smallest = std::numeric_limits<double>::denorm_min();

const std::vector<double> odd{0, -0.0, -1, -infinite, infinite, no_number, smallest, largest, 1};

/// What `failure_model` promises, at random ages and at odd ones.
void check_laws(const any_failures& model, std::mt19937_64& random) {
  CHECK(model.expected(0) == 0);
  CHECK(model.expected(-1) == 0);
  CHECK(model.expected(no_number) == 0);
  std::vector<double> ages{smallest, largest};
  std::lognormal_distribution<double> age(6, 4);
  for (int i = 0; i < 200; ++i) ages.push_back(age(random));
  std::sort(ages.begin(), ages.end());
  double before = 0;
  bool is_finite = true, never_falls = true;
  for (const double each : ages) {
    const double now = model.expected(each);
    is_finite = is_finite && std::isfinite(now);
    never_falls = never_falls && now >= before;
    before = now;
  }
  CHECK(is_finite);
  CHECK(never_falls);
}

/// The integral of the survival exp(-H), by the trapezoid rule over steps that grow with the age.
double mean_age(const any_failures& model, double scale) {
  double sum = 0, age = 0, survival = 1;
  for (double step = scale * 1e-9; survival > 1e-12; step = std::max(step, age * 1e-3)) {
    const double later = std::exp(-model.expected(age + step));
    sum += step * (survival + later) / 2;
    age += step;
    survival = later;
  }
  return sum;
}

}  // namespace

TEST_CASE("failures expected are none at the age 0, never fall, and are finite, for every model with every parameter") {
  std::mt19937_64 random(1);
  check_laws(never{}, random);
  for (const double a : odd) {
    check_laws(exponential{duration(a)}, random);
    for (const double b : odd) {
      check_laws(weibull{a, duration(b)}, random);
      check_laws(weibull::of_mean(duration(a), b), random);
    }
  }
  std::uniform_real_distribution<double> shape(0.2, 5), scale(1, 1e6);
  for (int i = 0; i < 20; ++i) {
    check_laws(exponential{duration(scale(random))}, random);
    check_laws(weibull{shape(random), duration(scale(random))}, random);
  }
}

TEST_CASE("an exponential model expects age / MTBF failures, and none where the MTBF is no positive number") {
  CHECK(exponential{seconds(50)}.expected(100) == 2);
  CHECK(exponential{std::chrono::hours(2)}.expected(3600) == 0.5);
  for (const double mtbf : {0.0, -1.0, infinite, -infinite, no_number})
    CHECK(exponential{duration(mtbf)}.expected(1e9) == 0);
}

TEST_CASE("a Weibull model of a mean has that mean") {
  for (const double shape : {0.5, 0.7, 1.0, 1.5, 3.0})
    for (const double mtbf : {10.0, 14400.0})
      CHECK(mean_age(weibull::of_mean(duration(mtbf), shape), mtbf) == Approx(mtbf).epsilon(1e-4));
  CHECK(weibull{2, seconds(10)}.expected(30) == Approx(9));
}

namespace stops {

namespace {

using namespace bench::schedule::early_stops;

const std::vector<double> odd{0, -0.0, -1, -infinite, infinite, no_number, 0.4, 0.6, 1, 2};

/// What `early_stop_model` promises, at random parts and at odd ones.
void check_laws(const any_early_stop& model, std::mt19937_64& random) {
  CHECK(model.alive(0) == 1);
  CHECK(model.alive(-1) == 1);
  CHECK(model.alive(no_number) == 1);
  std::vector<double> parts{std::numeric_limits<double>::denorm_min(), 0.4, 0.6, 1, 2, infinite};
  std::uniform_real_distribution<double> part(0, 1);
  for (int i = 0; i < 100; ++i) parts.push_back(part(random));
  std::sort(parts.begin(), parts.end());
  double before = 1;
  bool is_probability = true, never_rises = true;
  for (const double each : parts) {
    const double now = model.alive(each);
    is_probability = is_probability && now >= 0 && now <= 1;
    never_rises = never_rises && now <= before;
    before = now;
  }
  CHECK(is_probability);
  CHECK(never_rises);
}

}  // namespace

TEST_CASE("a job is alive at the part 0, and never more so than before, for every model with every parameter") {
  std::mt19937_64 random(1);
  check_laws(none{}, random);
  for (const double a : odd)
    for (const double b : odd)
      for (const double c : odd) check_laws(uniform{a, b, c}, random);
}

TEST_CASE("stops between two parts fall evenly on what lies between them") {
  const uniform stops{0.4, 0.6, 0.5};
  CHECK(stops.alive(0.3) == 1);
  CHECK(stops.alive(0.4) == 1);
  CHECK(stops.alive(0.5) == Approx(0.75));
  CHECK(stops.alive(0.6) == Approx(0.5));
  CHECK(stops.alive(1) == 0.5);
  CHECK(uniform{0.5, 1.5, 1}.alive(1) == 0.5);
  CHECK(uniform{-1, 1, 1}.alive(0.25) == 0.75);
  CHECK(uniform{}.alive(0.6) == 0);
}

TEST_CASE("stops between two parts in the wrong order, or equal ones, all fall on the first") {
  for (const double to : {0.4, 0.2, -infinite}) {
    const uniform stops{0.4, to, 0.25};
    CHECK(stops.alive(0.4) == 1);
    CHECK(stops.alive(0.41) == 0.75);
    CHECK(stops.alive(1) == 0.75);
  }
}

TEST_CASE("parts and probabilities that are no numbers stop nothing, and probabilities beyond 1 are 1") {
  CHECK(uniform{no_number, 0.6}.alive(1) == 1);
  CHECK(uniform{0.4, no_number}.alive(1) == 1);
  CHECK(uniform{0.4, 0.6, no_number}.alive(1) == 1);
  CHECK(uniform{0.4, 0.6, -1}.alive(1) == 1);
  CHECK(uniform{0.4, 0.6, 7}.alive(1) == 0);
}

}  // namespace stops
