#include "cairn/schedule/simulate.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "catch.hpp"

namespace {

using cairn::any_failures;
using cairn::failures::exponential;
using cairn::failures::weibull;
using cairn::schedule::mean_of;
using cairn::schedule::seeded_numbers;
using cairn::schedule::workers_at_risk;
using duration = std::chrono::duration<double>;

/// The age at which they fail, where time passes in these spans, again and again.
double failing_age(workers_at_risk& workers, const std::vector<double>& spans, double number = 1) {
  double age = 0;
  for (std::size_t i = 0;; i = (i + 1) % spans.size()) {
    age += workers.pass(spans[i], number);
    if (workers.has_failed()) return age;
  }
}

}  // namespace

TEST_CASE("workers fail at the same age, however the time is cut into spans") {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> span(0.01, 300), shape(0.5, 3);
  for (int i = 0; i < 200; ++i) {
    const any_failures model = weibull{shape(random), duration(1000)};
    workers_at_risk one(model, seeded_numbers(random())), same = one;
    CHECK(failing_age(one, {1e6}) == Catch::Approx(failing_age(same, {span(random), span(random), span(random)})));
  }
}

TEST_CASE("ages of failure have the model's distribution, of one worker and of many") {
  for (const double shape : {0.6, 1.0, 2.0})
    for (const double number : {1.0, 4.0}) {
      const any_failures model = weibull::of_mean(duration(1000), shape);
      workers_at_risk workers(model, seeded_numbers(7));
      std::vector<double> ages, survivals;
      for (int i = 0; i < 5000; ++i, workers.begin()) {
        ages.push_back(failing_age(workers, {130}, number));
        survivals.push_back(std::exp(-number * model.expected(ages.back())));
      }
      const auto age = mean_of(ages), survival = mean_of(survivals);
      CHECK(std::abs(age.mean - 1000 * std::pow(number, -1 / shape)) < 3.29 * age.standard_error);
      CHECK(std::abs(survival.mean - 0.5) < 3.29 * survival.standard_error);
    }
}

TEST_CASE("workers that leave take their risk with them") {
  const any_failures model = exponential{duration(100)};
  workers_at_risk workers(model, seeded_numbers(3)), few = workers;
  const double age = failing_age(few, {1e6});
  const double first = workers.pass(age / 8, 4);  // half of the risk
  CHECK(first == age / 8);
  CHECK(workers.pass(age, 1) == Catch::Approx(age / 2));
  CHECK(workers.has_failed());
}

TEST_CASE("the k-th failure is drawn the same, whatever was done before it") {
  const any_failures model = exponential{duration(100)};
  workers_at_risk a(model, seeded_numbers(5)), b(model, seeded_numbers(5));
  static_cast<void>(a.pass(1, 1));
  a.begin();
  static_cast<void>(b.pass(1e9, 1));
  CHECK(b.has_failed());
  b.begin();
  CHECK_FALSE(b.has_failed());
  CHECK(failing_age(a, {1e6}) == failing_age(b, {1e6}));
}

TEST_CASE(
    "workers never fail by a model that expects nothing or no number, and at once by one that expects no end of it") {
  struct constant {
    double value;
    double expected(double age) const { return age > 0 ? value : 0; }
  };
  const double infinite = std::numeric_limits<double>::infinity();
  for (const double nothing : {0.0, -1.0, -infinite, std::nan("")}) {
    const any_failures model = constant{nothing};
    workers_at_risk workers(model, seeded_numbers(1));
    for (int i = 0; i < 3; ++i) CHECK(workers.pass(1e9, 4) == 1e9);
    CHECK_FALSE(workers.has_failed());
  }
  const any_failures model = constant{infinite};
  workers_at_risk workers(model, seeded_numbers(1));
  CHECK(workers.pass(10, 1) < 1e-9);
  CHECK(workers.has_failed());
}
