// SPDX-License-Identifier: MIT
#include "cairn/schedule/mtbf.hpp"

#include "catch.hpp"

using namespace cairn;
using cairn::schedule::mtbf_estimate;
using std::chrono::duration;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
const double no_number = std::nan("");

/// After `failures`, each with the seconds of work before it.
mtbf_estimate after(const std::vector<double>& failures, const mtbf_prior& prior = {}) {
  mtbf_estimate made(prior);
  for (const double seconds : failures) {
    made.worked(seconds);
    made.failed();
  }
  return made;
}

}  // namespace

TEST_CASE("what is known is not learned") {
  const mtbf_prior known{duration<double>(1000), 0};
  CHECK(after({}, known).seconds() == Approx(1000));
  CHECK(after({1, 1, 1, 1}, known).seconds() == Approx(1000));
}

TEST_CASE("the posterior is Bayes' rule: against an integral in small steps") {
  const mtbf_prior prior{duration<double>(5000), 0.5};
  const double seconds = 12'000;
  const int failures = 7;
  double all = 0, weighted = 0;
  for (double z = -6; z <= 6; z += 1e-3) {
    const double rate = std::pow(10, -0.5 * z) / 5000;
    const double weight = std::exp(-z * z / 2) * std::pow(rate * seconds, failures) * std::exp(-rate * seconds);
    all += weight;
    weighted += weight * rate;
  }
  CHECK(after(std::vector<double>(failures, seconds / failures), prior).rate() == Approx(weighted / all).epsilon(0.01));
}

TEST_CASE("with failures enough it is the mean time between them, wherever the prior is") {
  std::mt19937 random(5);
  for (const double mtbf : {8.0, 600.0, 14'400.0, 1e6}) {
    std::exponential_distribution<double> draw(1 / mtbf);
    std::vector<double> times(300);
    double sum = 0;
    for (auto& each : times) sum += each = draw(random);
    CHECK(after(times).seconds() == Approx(sum / 300).epsilon(0.08));  // the width of the cells of its grid
  }
}

TEST_CASE("the rate falls as long as nothing fails, and rises with each failure") {
  mtbf_estimate estimate;
  double before = estimate.rate();
  for (int i = 0; i < 60; ++i) {
    estimate.worked(std::pow(1.3, i));
    CHECK(estimate.rate() <= before);
    before = estimate.rate();
  }
  for (int i = 0; i < 5; ++i) {
    estimate.failed();
    CHECK(estimate.rate() > before);
    before = estimate.rate();
  }
}

TEST_CASE("n workers fail n times as often, and teach n times as much") {
  mtbf_estimate many, one;
  many.worked(1000, 4);
  one.worked(4000);
  CHECK(many.rate() == one.rate());
  CHECK(many.rate(4) == Approx(4 * many.rate()));
  CHECK(many.rate(0) == 0);
  CHECK(many.rate(-1) == 0);
  CHECK(many.rate(no_number) == 0);
  CHECK(std::isfinite(mtbf_estimate({duration<double>(5e-324), 0}).rate()));
}

TEST_CASE("an invalid prior is the default one; one that never fails has a rate of 0") {
  for (const double odd : {0.0, -1.0, no_number})
    CHECK(mtbf_estimate({duration<double>(odd), 1.5}).rate() == mtbf_estimate().rate());
  for (const double odd : {0.0, -1.0, no_number})
    CHECK(mtbf_estimate({duration<double>(100), odd}).rate() == Approx(0.01));
  CHECK(mtbf_estimate({duration<double>(infinite), 1.5}).rate() == 0);
  CHECK(std::isinf(mtbf_estimate({duration<double>(infinite), 1.5}).seconds()));
}

TEST_CASE("time that is not positive and finite teaches nothing") {
  mtbf_estimate estimate;
  const double before = estimate.rate();
  for (const double odd : {0.0, -5.0, no_number, infinite}) {
    estimate.worked(odd);
    estimate.worked(1, odd);
  }
  CHECK(estimate.rate() == before);
  for (int i = 0; i < 10'000; ++i) estimate.failed();
  estimate.worked(1e300);
  CHECK(std::isfinite(estimate.rate()));
}

TEST_CASE("a restarted run had worked until it failed, at most for the longest interval") {
  const auto restarted = [](double away, bool after_failure) {
    mtbf_estimate estimate;
    estimate.restarted({.after_failure = after_failure, .away_seconds = away});
    return estimate.rate();
  };
  CHECK(restarted(60, true) == after({60}).rate());
  CHECK(restarted(1e6, true) == after({cairn::schedule::longest_interval}).rate());
  CHECK(restarted(0, false) == mtbf_estimate().rate());
  CHECK(restarted(60, false) == mtbf_estimate().rate());
  CHECK(restarted(no_number, true) == after({0}).rate());
}

TEST_CASE("an estimate is the same after a restart; invalid notes are ignored") {
  const auto learned = after({10, 2000, 30});
  policy_memory memory;
  learned.remember(memory);
  mtbf_estimate again;
  again.recall(memory);
  CHECK(again.rate() == learned.rate());
  for (const policy_memory& odd : {policy_memory{},
                                   {{"failures", {1}}},
                                   {{"failures", {-1, 5}}},
                                   {{"failures", {1, infinite}}},
                                   {{"failures", {no_number, 1}}}}) {
    again.recall(odd);
    CHECK(again.rate() == learned.rate());
  }
}
