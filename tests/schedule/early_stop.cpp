#include "cairn/schedule/risks.hpp"

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "catch.hpp"

namespace {

using cairn::any_early_stop;
using cairn::early_stops::none;
using cairn::early_stops::past_jobs;
using cairn::early_stops::uniform;

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

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
    for (const double b : odd) {
      check_laws(past_jobs({a, b}), random);
      for (const double c : odd) check_laws(uniform{a, b, c}, random);
    }
}

TEST_CASE("stops between two parts fall evenly on what lies between them") {
  const uniform stops{0.4, 0.6, 0.5};
  CHECK(stops.alive(0.3) == 1);
  CHECK(stops.alive(0.4) == 1);
  CHECK(stops.alive(0.5) == Catch::Approx(0.75));
  CHECK(stops.alive(0.6) == Catch::Approx(0.5));
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

TEST_CASE("past jobs: the part of them that got as far") {
  const past_jobs stops({0.5, 1, 0.2, 3, no_number});
  CHECK(stops.alive(0.2) == 1);
  CHECK(stops.alive(0.21) == 0.75);
  CHECK(stops.alive(0.5) == 0.75);
  CHECK(stops.alive(0.7) == 0.5);
  CHECK(stops.alive(1) == 0.5);
  CHECK(past_jobs({}).alive(1) == 1);
  CHECK(past_jobs({no_number}).alive(1) == 1);
  CHECK(past_jobs({0, -1}).alive(0.01) == 0);
}

TEST_CASE("any model of early stops is as the model that it was made of") {
  const any_early_stop chosen = uniform{0, 1, 1};
  const auto copy = chosen;
  CHECK(chosen.alive(0.25) == 0.75);
  CHECK(copy.alive(0.25) == 0.75);
}
