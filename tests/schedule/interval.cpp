// SPDX-License-Identifier: MIT
#include "cairn/schedule/interval.hpp"

#include "catch.hpp"

namespace {

using namespace cairn::schedule;

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
constexpr double strange[] = {0,         -0.0,
                              -1,        1e-300,
                              1e300,     std::numeric_limits<double>::max(),
                              infinite,  -infinite,
                              no_number, std::numeric_limits<double>::denorm_min(),
                              1,         3600,
                              7200};

/// The expected time per second of work with a save every `work` seconds (Daly 2006, equation 20, restore left out):
/// failures may strike during saves and be many.
double exact_cost(double work, double stall, double mtbf) { return mtbf * std::expm1((work + stall) / mtbf) / work; }

}  // namespace

TEST_CASE("whatever the stall and the MTBF, an interval is a number of at least the stall") {
  for (const double stall : strange)
    for (const double mtbf : strange)
      for (const double seconds : {young_interval(stall, mtbf), daly_interval(stall, mtbf)}) {
        INFO("stall " << stall << ", mtbf " << mtbf);
        CHECK(seconds >= 0);
        CHECK((!(stall > 0) || seconds >= stall));
      }
}

TEST_CASE("a longest interval that is not positive is an hour") {
  const auto longest = [](double seconds) { return sane_longest(std::chrono::duration<double>(seconds)); };
  for (const double none : {0.0, -1.0, -infinite, no_number}) CHECK(longest(none) == longest_interval);
  for (const double some : {1e-9, 7200.0, infinite}) CHECK(longest(some) == some);
}

TEST_CASE("Young's interval is the square root of twice the stall times the MTBF") {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> decades(-3, 2);
  for (int i = 0; i < 1000; ++i) {
    const double stall = std::pow(10, decades(random)), mtbf = stall * std::pow(10, decades(random) + 4);
    const double young = std::sqrt(2) * std::sqrt(stall) * std::sqrt(mtbf);
    CHECK(young_interval(stall, mtbf) == Approx(young));
  }
  CHECK(young_interval(2, 100) == Approx(20));
  CHECK(young_interval(0.59, 4 * 3600) == Approx(130.35).epsilon(1e-4));
}

TEST_CASE("Daly's interval is the best one where failures may also strike during saves") {
  for (const double mtbf : {100.0, 3600.0, 4 * 3600.0})
    for (const double part : {1e-5, 1e-3, 0.01, 0.1, 0.3}) {
      const double stall = part * mtbf, best = daly_interval(stall, mtbf);
      INFO("mtbf " << mtbf << ", stall " << stall);
      const double cost = exact_cost(best, stall, mtbf), none = 1;
      for (double factor = 0.2; factor < 5; factor *= 1.02)
        CHECK(cost - none <= (exact_cost(best * factor, stall, mtbf) - none) * 1.005);
      CHECK(cost <= exact_cost(young_interval(stall, mtbf), stall, mtbf) * (1 + 1e-9));
    }
}

TEST_CASE("Daly's interval is Young's less about two thirds of a stall") {
  for (const double stall : {0.001, 0.1, 1.0})
    CHECK(daly_interval(stall, 5e6 * stall) - young_interval(stall, 5e6 * stall) ==
          Approx(-2 * stall / 3).epsilon(0.01));
  CHECK(daly_interval(2, 100) == Approx(20 * (1 + 0.1 / 3 + 0.01 / 9) - 2));
  CHECK(daly_interval(200, 100) == 200);  // not 100: an interval is no shorter than a save
  CHECK(daly_interval(50, 25) == 50);
  CHECK(daly_interval(0, 0) == 0);
}

TEST_CASE("no failures, or no numbers: an infinite interval; failures all the time: no pause") {
  for (const auto interval : {young_interval, daly_interval}) {
    CHECK(interval(1, infinite) == infinite);
    CHECK(interval(0, infinite) == infinite);
    CHECK(interval(1, no_number) == infinite);
    CHECK(interval(no_number, 100) == infinite);
    CHECK(interval(no_number, 0) == infinite);
    CHECK(interval(infinite, 100) == infinite);
    CHECK(interval(0, 100) == 0);
    CHECK(interval(-1, 100) == 0);
    CHECK(interval(0, 0) == 0);
    CHECK(interval(0.5, 0) == 0.5);
    CHECK(interval(0.5, -1) == 0.5);
  }
}

TEST_CASE("a save is due at the iteration whose end costs least by Young's formula") {
  const auto cost = [](double interval, double stall, double mtbf) { return stall / interval + interval / (2 * mtbf); };
  std::mt19937 random(2);
  std::uniform_real_distribution<double> decades(-2, 2);
  for (int i = 0; i < 200; ++i) {
    const double stall = std::pow(10, decades(random)), iteration = std::pow(10, decades(random)), mtbf = 3000;
    const double best = young_interval(stall, mtbf);
    if (best > 1000 || best <= stall) continue;
    double done = iteration;
    while (!is_due(done, best, iteration)) done += iteration;
    INFO("stall " << stall << ", iteration " << iteration);
    CHECK(cost(done, stall, mtbf) <= cost(done + iteration, stall, mtbf) * (1 + 1e-9));
    CHECK((done == iteration || cost(done, stall, mtbf) <= cost(done - iteration, stall, mtbf) * (1 + 1e-9)));
  }
  CHECK_FALSE(is_due(1e100, infinite, 0));
  CHECK_FALSE(is_due(0, 1, 0));
  CHECK(is_due(0, 0, 0));
}
