// SPDX-License-Identifier: MIT
#include "schedule/workload.hpp"

#include "catch.hpp"
#include "store/sample.hpp"

using namespace bench::schedule;

namespace {

workload falling(std::size_t steps) {
  std::mt19937 random(3);
  workload made;
  double loss = 2;
  for (std::size_t k = 0; k < steps; ++k) {
    made.loss.push_back(loss);
    made.seconds.push_back(std::uniform_real_distribution<>(0.5, 2)(random));
    loss *= 0.97;
  }
  made.loss.push_back(loss);
  return made;
}

double seconds_of(const workload& job) { return std::accumulate(job.seconds.begin(), job.seconds.end(), 0.0); }

}  // namespace

TEST_CASE("by the loss: work is worth its part of the fall, in the mean a second a second") {
  const auto job = falling(40);
  for (const auto what : {objective::progress, objective::exploratory, objective::coci}) {
    const auto all = prices_of(what, job);
    CHECK(all.work.back() == Approx(seconds_of(job)));
    for (std::size_t k = 0; k <= 40; ++k)
      CHECK(all.work[k] / all.work.back() ==
            Approx((job.loss[0] - job.loss[k]) / (job.loss[0] - job.loss[40])).margin(1e-12));
    for (std::size_t k = 1; k < 40; ++k) {
      const double slope =
          ((all.work[k] - all.work[k - 1]) / job.seconds[k - 1] + (all.work[k + 1] - all.work[k]) / job.seconds[k]) / 2;
      CHECK(all.wait[k] == Approx(what == objective::exploratory ? 1 : slope));
    }
  }
}

TEST_CASE("worker seconds: as many as there are workers") {
  const auto all = prices_of(objective::worker_seconds, {.seconds = {1, 2, 3, 4}, .loss = {}, .workers = {4, 4, 2, 1}});
  CHECK(all.work == std::vector<double>{0, 4, 12, 18, 22});
  CHECK(all.wait == std::vector<double>{4, 4, 3, 1.5, 1});
}

TEST_CASE("a loss that rises for a while is worth nothing there; one that never falls or is no number is not asked") {
  workload job{.seconds = {1, 1, 1}, .loss = {3, 4, 2, 1}};
  CHECK(prices_of(objective::progress, job).work == std::vector<double>{0, 0, 2, 3});
  for (const double last :
       {3.0, 9.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    job.loss = {3, 3, 3, last};
    for (const auto what : objectives) CHECK(prices_of(what, job).work == std::vector<double>{0, 1, 2, 3});
  }
  job.loss = {};
  CHECK(prices_of(objective::progress, job).wait == std::vector<double>(4, 1));
}

TEST_CASE("no iterations are worth nothing; lists that do not go together are refused") {
  CHECK(prices_of(objective::progress, {}).work == std::vector<double>{0});
  CHECK(sample::failure_of([] {
          (void)prices_of(objective::progress, {.seconds = {1}, .loss = {1, 2, 3}});
        }).says("3 entries of loss"));
  CHECK(sample::failure_of([] {
          (void)prices_of(objective::progress, {.seconds = {1}, .loss = {}, .workers = {1, 2}});
        }).says("2 entries of workers"));
  CHECK(
      sample::failure_of([] { (void)prices_of(objective::progress, {.seconds = {std::nan("")}}); }).says("takes nan"));
}

TEST_CASE("each objective has a name of its own") {
  std::set<std::string_view> names;
  for (const auto each : objectives) {
    CHECK(name(each) != "unknown");
    names.insert(name(each));
  }
  CHECK(names.size() == objectives.size());
  CHECK(name(objective::machine_time) == "machine_time");
  CHECK(name(static_cast<objective>(objectives.size())) == "unknown");
}
