// SPDX-License-Identifier: MIT
#include "schedule/simulate.hpp"

#include "cairn/schedule/every.hpp"
#include "cairn/schedule/interval.hpp"
#include "schedule/optimum.hpp"
#include "catch.hpp"

namespace {

using namespace bench::schedule;
using bench::schedule::failures::exponential;
using bench::schedule::failures::weibull;
using cairn::save_kind;
using cairn::policies::every;
using cairn::policies::every_steps;
using duration = std::chrono::duration<double>;
using steps = std::vector<std::uint64_t>;

/// Every process of the job fails at this age.
struct at_age {
  double seconds;
  double expected(double age) const { return age < seconds ? 0 : 1e9; }
};

struct never_saves {
  bool should_save(const cairn::moment&) const { return false; }
};

/// Saves at these steps, and writes down all that it is asked and told, also by its copies.
struct recorder {
  struct record {
    std::vector<cairn::moment> asked;
    std::vector<cairn::save_cost> told;
    steps told_at;  // asked.size() then
    std::vector<cairn::restart> restarts;
    std::vector<double> recalled;
  };

  steps at;
  save_kind kind = save_kind::whole;
  std::shared_ptr<record> all = std::make_shared<record>();
  double times_asked = 0;  // by this process and those before, as far as it knows

  cairn::decision should_save(const cairn::moment& now) {
    ++times_asked;
    all->asked.push_back(now);
    return {at.empty() || std::find(at.begin(), at.end(), now.step) != at.end(), kind};
  }
  void saved(const cairn::save_cost& cost) {
    all->told.push_back(cost);
    all->told_at.push_back(all->asked.size());
  }
  void restarted(const cairn::restart& how) { all->restarts.push_back(how); }
  cairn::policy_memory remember() const { return {{"asked", {times_asked}}}; }
  void recall(const cairn::policy_memory& kept) {
    times_asked = kept.at("asked").at(0);
    all->recalled.push_back(times_asked);
  }
};

scenario of_seconds(std::size_t iterations, const save_times& takes, const any_failures& failures, double each = 1) {
  scenario what{.work = {.seconds = std::vector<double>(iterations, each)}, .failures = failures};
  what.kinds = every_kind(takes);
  return what;
}

outcome one(const scenario& what, const cairn::any_policy& policy) {
  return simulate(what, policy, {.jobs = 1}).jobs.at(0);
}

/// By 99.9 %.
bool agrees(const sample_mean& found, double expected, double slack = 0) {
  UNSCOPED_INFO(found.mean << " +- " << 3.29 * found.standard_error << ", expected " << expected);
  return std::abs(found.mean - expected) <= 3.29 * found.standard_error + slack * expected;
}

/// Daly (2006), equation 13: of a segment of `work` seconds and the save after it, where restoring may fail as well.
double expected_seconds(double work, double stall, double restore, double rate) {
  return std::exp(rate * restore) * std::expm1(rate * (work + stall)) / rate;
}

/// A workload, costs, failures, stops and noise as they come.
scenario any_scenario(std::mt19937_64& random) {
  const auto between = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  scenario what;
  const auto iterations = 1 + random() % 200;
  double loss = 5;
  what.work.loss.push_back(loss);
  for (std::size_t i = 0; i < iterations; ++i) {
    what.work.seconds.push_back(between(0.1, 3));
    what.work.loss.push_back(loss += between(-0.1, 0.05));
    what.work.workers.push_back(static_cast<double>(1 + random() % 4));
  }
  const bool is_blocking = random() % 3 == 0;
  for (auto& kind : what.kinds)
    kind.takes = {.stall = between(0, 1),
                  .background = is_blocking ? 0 : between(0, 8),
                  .slowdown = between(0, 1),
                  .restore = between(0, 5)};
  if (random() % 2 == 0)
    what.failures = exponential{duration(between(100, 1000))};
  else
    what.failures = weibull::of_mean(duration(between(100, 1000)), between(0.5, 2));
  if (random() % 2 == 0) what.stops = early_stops::uniform{0.2, 0.9, 0.7};
  what.loss_noise = random() % 2 == 0 ? 0 : 0.1;
  return what;
}

bool are_equal(const simulation& a, const simulation& b) {
  bool is_equal = a.jobs.size() == b.jobs.size();
  for (std::size_t i = 0; is_equal && i < a.jobs.size(); ++i) {
    const auto &x = a.jobs[i], &y = b.jobs[i];
    is_equal = x.seconds == y.seconds && x.steps == y.steps && x.saves == y.saves && x.failures == y.failures;
    for (const auto by : objectives) is_equal = is_equal && x.of(by).total() == y.of(by).total();
  }
  return is_equal;
}

TEST_CASE("every second of a simulated job is work, waiting, lost or restoring") {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100; ++i) {
    const auto what = any_scenario(random);
    const auto all = simulate(what, every_steps{1 + random() % 20}, {.jobs = 20, .seed = random()});
    for (const auto& each : all.jobs) {
      const auto& machine = each.of(objective::machine_time);
      CHECK(each.seconds == Approx(each.work + machine.total()));
      for (const auto& by : each.overheads) CHECK((by.waiting >= 0 && by.lost >= 0 && by.restoring >= 0));
      CHECK(each.of(objective::exploratory).waiting == machine.waiting);
      CHECK(each.of(objective::coci).waiting == each.of(objective::progress).waiting);
      CHECK(each.of(objective::coci).total() <= each.of(objective::progress).total());
      CHECK(each.of(objective::worker_seconds).total() >= machine.total());
      CHECK(each.published <= each.saves);
      CHECK(each.steps <= what.work.steps());
    }
  }
}

TEST_CASE("the same seed gives the same jobs, and another one others") {
  std::mt19937_64 random(2);
  auto what = any_scenario(random);
  what.failures = exponential{duration(50)};
  const auto first = simulate(what, every_steps{5}, {.jobs = 50, .seed = 3});
  CHECK(are_equal(first, simulate(what, every_steps{5}, {.jobs = 50, .seed = 3})));
  CHECK_FALSE(are_equal(first, simulate(what, every_steps{5}, {.jobs = 50, .seed = 4})));
  CHECK(first.jobs[0].seconds != first.jobs[1].seconds);
  auto fewer = simulate(what, every_steps{5}, {.jobs = 7, .seed = 3});
  for (std::size_t i = 0; i < 7; ++i) CHECK(fewer.jobs[i].seconds == first.jobs[i].seconds);
}

TEST_CASE("a policy does not differ from itself, and all policies meet the same fate") {
  auto what = of_seconds(1000, {.stall = 1, .restore = 5}, exponential{duration(300)});
  const auto often = simulate(what, every_steps{10}, {.jobs = 200}),
             same = simulate(what, every_steps{10}, {.jobs = 200});
  const auto rarely = simulate(what, every_steps{100}, {.jobs = 200});
  const auto none = difference_of(often, same, objective::machine_time);
  CHECK(none.mean == 0);
  CHECK(none.standard_error == 0);
  CHECK(difference_of(often, rarely, &outcome::seconds).mean ==
        Approx(mean_of(often, &outcome::seconds).mean - mean_of(rarely, &outcome::seconds).mean));
  CHECK(difference_of(often, rarely, &outcome::seconds).standard_error <
        mean_of(rarely, &outcome::seconds).standard_error);

  const auto of_other_seed = simulate(what, every_steps{10}, {.jobs = 200, .seed = 9});
  const auto of_fewer = simulate(what, every_steps{10}, {.jobs = 100});
  CHECK_THROWS_AS(difference_of(often, of_other_seed, objective::machine_time), cairn::error);
  CHECK_THROWS_AS(difference_of(often, of_fewer, objective::machine_time), cairn::error);

  const auto first_failures = [&](const cairn::any_policy& policy) {
    return simulate(what, policy, {.jobs = 100, .most_failures = 0});
  };
  const auto a = first_failures(every_steps{3}), b = first_failures(never_saves{});
  for (std::size_t i = 0; i < a.jobs.size(); ++i)
    if (a.jobs[i].is_given_up && b.jobs[i].is_given_up) CHECK(a.jobs[i].seconds == Approx(b.jobs[i].seconds));
}

TEST_CASE("without failures a job takes its iterations and what its saves take") {
  const save_times takes{.stall = 0.5, .background = 3, .slowdown = 0.2, .restore = 100};
  const auto done = one(of_seconds(100, takes, failures::never{}), every_steps{10});
  CHECK(done.saves == 9);  // the end needs none
  CHECK(done.published == 9);
  CHECK(done.seconds == Approx(100 + 9 * takes.of_a_save()));
  CHECK(done.of(objective::machine_time).waiting == Approx(9 * 1.1));
  CHECK(done.of(objective::machine_time).total() == done.of(objective::machine_time).waiting);
  CHECK(done.work == 100);
  CHECK(one(of_seconds(100, takes, failures::never{}), never_saves{}).seconds == 100);
  CHECK(one(of_seconds(0, takes, exponential{duration(1)}), every_steps{1}).seconds == 0);
  CHECK(simulate(of_seconds(10, takes, failures::never{}), never_saves{}, {.jobs = 0}).jobs.empty());
}

TEST_CASE("blocking saves and one failure, by hand") {
  const auto what = of_seconds(30, {.stall = 2, .restore = 3}, at_age{24.5});
  const auto done = one(what, every_steps{10});
  CHECK(done.seconds == Approx(24.5 + 3 + 10));
  const auto& machine = done.of(objective::machine_time);
  CHECK(machine.waiting == Approx(4));
  CHECK(machine.lost == Approx(0.5));
  CHECK(machine.restoring == Approx(3));
  CHECK(done.failures == 1);
  CHECK(done.saves == 2);
  CHECK_FALSE(done.is_given_up);
}

TEST_CASE("who fails before a save is published goes back one further, by hand") {
  const auto what = of_seconds(30, {.stall = 2, .background = 5, .restore = 3}, at_age{24.5});
  const auto done = one(what, every_steps{10});
  // 10 saved at 12, published at 17; 20 saved at 24, lost at 24.5; 20 saved again, published; lost in iteration 30;
  // done.
  CHECK(done.seconds == Approx(24.5 + 24.5 + 13));
  const auto& machine = done.of(objective::machine_time);
  CHECK(machine.waiting == Approx(6));
  CHECK(machine.lost == Approx(10.5 + 9.5));
  CHECK(machine.restoring == Approx(6));
  CHECK(done.failures == 2);
  CHECK(done.saves == 3);
  CHECK(done.published == 2);
  const auto& first_only = done.of(objective::coci);  // no loss: at the prices of machine time
  CHECK(first_only.waiting == Approx(6));
  CHECK(first_only.lost == Approx(10.5));
  CHECK(first_only.restoring == Approx(3));
}

TEST_CASE("a save that is published within the iteration that fails is there to go back to") {
  const auto published_at = [](double background) {
    const auto done = one(of_seconds(2, {.background = background}, at_age{1.5}), recorder{.at = {1}});
    return done.of(objective::machine_time).lost;
  };
  CHECK(published_at(0.4) == Approx(0.5));
  CHECK(simulate(of_seconds(2, {.background = 0.6}, at_age{1.5}), recorder{.at = {1}}, {.jobs = 1, .most_failures = 3})
            .jobs[0]
            .is_given_up);
}

TEST_CASE("failures in a stall, by hand") {
  const auto what = of_seconds(12, {.stall = 2, .restore = 1}, at_age{11});
  const auto done = simulate(what, recorder{.at = {4, 9}}, {.jobs = 1, .most_failures = 1}).jobs[0];
  // 4 saved at 6, published; 9 done at 11, where its stall begins and the process fails; then 9 done and saved at 8,
  // done at 11: fails.
  CHECK(done.failures == 2);
  CHECK(done.is_given_up);
  CHECK(done.of(objective::machine_time).lost == Approx(5 + 3));
  const auto in_the_middle = one(of_seconds(12, {.stall = 2, .restore = 1}, at_age{12}), recorder{.at = {4, 9}});
  CHECK(in_the_middle.of(objective::machine_time).waiting == Approx(2 + 1 + 2));
  CHECK(in_the_middle.of(objective::machine_time).lost == Approx(5));
  CHECK(in_the_middle.seconds == Approx(12 + 1 + 5 + 2 + 3));
}

TEST_CASE("lost work and waiting are charged at the objectives' prices") {
  auto what = of_seconds(30, {.stall = 2, .restore = 3}, at_age{24.5});
  what.work.workers.assign(30, 4);
  for (int k = 0; k <= 30; ++k) what.work.loss.push_back(k < 25 ? 25 - k : 0);  // nothing is learned in the last five
  const auto done = one(what, every_steps{10});
  const auto price = 30.0 / 25;
  CHECK(done.of(objective::progress).waiting == Approx(4 * price));
  CHECK(done.of(objective::progress).lost == Approx(0.5 * price));
  CHECK(done.of(objective::progress).restoring == Approx(3 * price));
  CHECK(done.of(objective::exploratory).waiting == Approx(4));
  CHECK(done.of(objective::exploratory).lost == Approx(0.5 * price));
  CHECK(done.of(objective::exploratory).restoring == Approx(3));
  CHECK(done.of(objective::worker_seconds).waiting == Approx(16));
  CHECK(done.of(objective::worker_seconds).lost == Approx(2));
  CHECK(done.of(objective::worker_seconds).without_restoring() == Approx(18));
}

TEST_CASE("a policy is asked after each iteration but the last, and sees what happened") {
  auto what = of_seconds(6, {.stall = 1, .background = 2.5, .slowdown = 0.5}, failures::never{});
  what.work.loss = {6, 5, 4, 3, 2, 1, 0};
  what.work.workers = {4, 4, 2, 2, 1, 1};
  what.kinds[1].reported = {.step = 77, .kind = save_kind::raw, .encode_seconds = 1.5, .bytes = 11};
  const recorder policy{.at = {2, 3, 4}};
  const auto done = one(what, policy);
  const auto& asked = policy.all->asked;
  REQUIRE(asked.size() == 5);
  // Saved at 2 from second 2 to 3, in the background until 5.5: iteration 3 takes 2 seconds, 4 takes 1.25. Saved at 4
  // from 6.25 to 7.25.
  const std::vector<double> seconds{1, 2, 5, 6.25, 9.25}, iterations{1, 1, 2, 1.25, 2}, saved_seconds{0, 0, 3, 3, 7.25};
  const std::vector<double> workers{4, 4, 2, 2, 1};
  const steps saved_steps{0, 0, 2, 2, 4};
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(asked[i].step == i + 1);
    CHECK(asked[i].seconds == Approx(seconds[i]));
    CHECK(asked[i].iteration_seconds == Approx(iterations[i]));
    CHECK(asked[i].saved_seconds == Approx(saved_seconds[i]));
    CHECK(asked[i].saved_step == saved_steps[i]);
    CHECK(asked[i].workers == workers[i]);
    CHECK(asked[i].loss == what.work.loss[i + 1]);
    CHECK(asked[i].is_saving == (i == 2 || i == 4));
  }
  REQUIRE(policy.all->told.size() == 1);  // of the save of 4 there is nobody to tell
  const auto& told = policy.all->told[0];
  CHECK(policy.all->told_at == steps{3});
  CHECK(told.step == 2);
  CHECK(told.kind == save_kind::whole);
  CHECK(told.stall_seconds == 1);
  CHECK(told.background_seconds == 2.5);
  CHECK(told.encode_seconds == 1.5);
  CHECK(told.bytes == 11);
  CHECK(done.saves == 2);  // that of 3 was not made
  CHECK(done.seconds == Approx(6 + 2 * (1 + 1.25)));
}

TEST_CASE("where saving takes all of the training, it stands still until the save is published") {
  const auto done = one(of_seconds(3, {.background = 2.5, .slowdown = 1}, failures::never{}), recorder{.at = {1}});
  CHECK(done.seconds == Approx(5.5));
}

TEST_CASE("after a failure a fresh copy recalls what was known when the checkpoint was copied") {
  const recorder policy{.at = {3, 6}};
  const auto done = one(of_seconds(8, {.stall = 0.5, .background = 1, .restore = 0.25}, at_age{7.5}), policy);
  // Asked 3 times until 3 was copied, until 3.5; it was published at 4.5; 6 copied until 7, and never published.
  CHECK(policy.all->recalled == std::vector<double>{3});
  REQUIRE(policy.all->restarts.size() == 1);
  CHECK(policy.all->restarts[0].step == 3);
  CHECK(policy.all->restarts[0].restore_seconds == 0.25);
  CHECK(policy.all->restarts[0].after_failure);
  const auto& asked = policy.all->asked;
  REQUIRE(asked.size() == 6 + 4);
  CHECK(asked[6].step == 4);
  CHECK(asked[6].seconds == 1);
  CHECK(asked[6].saved_step == 3);
  CHECK(asked[6].saved_seconds == 0);
  CHECK_FALSE(asked[6].is_saving);
  CHECK(done.failures == 1);
}

TEST_CASE("of what was published just before a failure, the process after it is not told") {
  const recorder policy{.at = {2}};
  const auto done = one(of_seconds(4, {.background = 0.4}, at_age{2.5}), policy);
  CHECK(done.published == 1);
  CHECK(policy.all->restarts.size() == 1);
  CHECK(policy.all->asked.size() == 3);
  CHECK(policy.all->told.empty());
}

TEST_CASE("a job that fails before its first checkpoint begins again and knows nothing") {
  const recorder policy{.at = {100}};
  const auto done =
      simulate(of_seconds(10, {.restore = 2}, at_age{4.5}), policy, {.jobs = 1, .most_failures = 1}).jobs[0];
  CHECK(policy.all->recalled.empty());
  CHECK(policy.all->restarts.empty());
  CHECK(done.seconds == Approx(9));
  CHECK(done.of(objective::machine_time).restoring == 2);
  CHECK(done.of(objective::machine_time).lost == Approx(4.5 + 2.5));
  CHECK(done.steps == 0);
}

TEST_CASE("a delta needs a previous checkpoint, costs what it adds, and every nth checkpoint is whole") {
  auto what = of_seconds(8, {}, at_age{8});
  what.kinds[1].takes.restore = 0.5;
  what.kinds[2].takes.restore = 0.0625;
  what.anchor_every = 3;
  const recorder policy{.at = {}, .kind = save_kind::delta};  // at every step
  const auto kinds = [&] {
    std::vector<save_kind> told;
    for (const auto& each : policy.all->told) told.push_back(each.kind);
    return told;
  };
  one(what, policy);
  const auto w = save_kind::whole, d = save_kind::delta;
  CHECK(kinds() ==
        std::vector{w, d, d, w, d, d});  // that of step 7 was published, but the process failed before the next step
  REQUIRE(policy.all->restarts.size() == 1);
  CHECK(policy.all->restarts[0].step == 7);
  CHECK(policy.all->restarts[0].restore_seconds == 0.5);

  what.failures = at_age{6.5};
  what.anchor_every = std::nullopt;
  policy.all->restarts.clear();
  one(what, policy);
  REQUIRE(policy.all->restarts.size() == 1);
  CHECK(policy.all->restarts[0].restore_seconds == 0.5 + 5 * 0.0625);
}

TEST_CASE("a save of no stated kind is of the usual one") {
  struct plain {
    std::shared_ptr<std::vector<save_kind>> told = std::make_shared<std::vector<save_kind>>();
    bool should_save(const cairn::moment&) const { return true; }
    void saved(const cairn::save_cost& cost) const { told->push_back(cost.kind); }
  };
  auto what = of_seconds(3, {}, failures::never{});
  what.usual = save_kind::raw;
  const plain policy;
  one(what, policy);
  CHECK(*policy.told == std::vector{save_kind::raw});
}

TEST_CASE("a job that cannot get on is given up") {
  const auto given_up = [](const auto& all) { return std::ranges::count_if(all.jobs, &outcome::is_given_up); };
  const auto what = of_seconds(100, {.stall = 1, .restore = 3}, exponential{duration(0.01)});
  const auto all = simulate(what, every_steps{1}, {.jobs = 20, .most_failures = 50});
  CHECK(given_up(all) == 20);
  for (const auto& each : all.jobs) {
    CHECK(each.failures == 51);
    CHECK(each.seconds == Approx(each.of(objective::machine_time).total() + each.work));
  }
  const auto in_restores =
      simulate(of_seconds(10, {.restore = 3}, at_age{2}), never_saves{}, {.jobs = 1, .most_failures = 9});
  CHECK(given_up(in_restores) == 1);
  CHECK(in_restores.jobs[0].seconds == Approx(20));
  CHECK(given_up(simulate(of_seconds(10, {}, failures::never{}), never_saves{}, {.jobs = 5})) == 0);
}

TEST_CASE("evenly spaced saves take as long as Daly's formula expects, Young's and Daly's intervals among them") {
  const double mtbf = 2000, work = 6000, iteration = 10;
  for (const double stall : {2.0, 20.0, 150.0})
    for (const double restore : {0.0, 60.0}) {
      const auto what = of_seconds(600, {.stall = stall, .restore = restore}, exponential{duration(mtbf)}, iteration);
      const double young = cairn::schedule::young_interval(stall, mtbf);
      for (const double interval : {young, cairn::schedule::daly_interval(stall, mtbf), 3 * young}) {
        const auto iterations = static_cast<std::uint64_t>(std::ceil(interval / iteration));
        const double whole = static_cast<double>(iterations) * iteration, saves = std::ceil(work / whole) - 1;
        const double expected = saves * expected_seconds(whole, stall, restore, 1 / mtbf) +
                                expected_seconds(work - saves * whole, 0, restore, 1 / mtbf);
        const auto by_time = simulate(what, every{duration(interval)}, {.jobs = 700, .seed = 1});
        CHECK(agrees(mean_of(by_time, &outcome::seconds), expected));
        const auto by_steps = simulate(what, every_steps{iterations}, {.jobs = 700, .seed = 2});
        CHECK(agrees(mean_of(by_steps, &outcome::seconds), expected));
      }
    }
}

TEST_CASE("n workers fail n times as often, also where their number changes") {
  const double mtbf = 6000, stall = 5, restore = 900;
  auto what = of_seconds(300, {.stall = stall, .restore = restore}, exponential{duration(mtbf)}, 10);
  double expected = 0;
  for (const double workers : {4.0, 2.0, 1.0}) {
    what.work.workers.insert(what.work.workers.end(), 100, workers);
    expected += (workers == 1 ? 9 : 10) * expected_seconds(100, stall, restore, workers / mtbf);
  }
  expected += expected_seconds(100, 0, restore, 1 / mtbf);
  CHECK(agrees(mean_of(simulate(what, every_steps{10}, {.jobs = 3000}), &outcome::seconds), expected));
}

TEST_CASE("first failures come as the model says") {
  const auto first = [](const any_failures& model, double workers) {
    auto what = of_seconds(5000, {}, model, 10);
    what.work.workers.assign(5000, workers);
    return mean_of(simulate(what, never_saves{}, {.jobs = 3000, .most_failures = 0}), &outcome::seconds);
  };
  for (const double shape : {0.6, 1.0, 2.0}) {
    const auto model = weibull::of_mean(duration(1000), shape);
    CHECK(agrees(first(model, 1), 1000));
    CHECK(agrees(first(model, 4), 1000 * std::pow(4, -1 / shape)));
  }
  CHECK(agrees(first(exponential{duration(0.5)}, 1), 0.5));  // far within an iteration
}

TEST_CASE("all objectives cost what is expected, with stops and changing workers") {
  auto what = of_seconds(300, {.stall = 2, .background = 10, .slowdown = 0.2}, exponential{duration(50000)}, 10);
  for (int k = 0; k <= 300; ++k) what.work.loss.push_back(0.1 + std::exp(-k / 60.0));
  for (const double workers : {4.0, 2.0, 1.0}) what.work.workers.insert(what.work.workers.end(), 100, workers);
  what.stops = early_stops::uniform{0.4, 0.6, 0.7};
  const auto all = simulate(what, every_steps{10}, {.jobs = 20000});
  std::vector<std::uint32_t> saves;
  for (std::uint32_t k = 10; k < 300; k += 10) saves.push_back(k);
  for (const auto by : objectives) {
    const auto cost_model = cost_model_of(by, what.work, what.kinds[1].takes, what.failures, what.stops);
    INFO(name(by));
    CHECK(agrees(mean_of(all, by), expected_cost(cost_model, saves), 0.02));
  }
}

TEST_CASE("jobs are stopped where the model of early stops says, and nothing after that counts") {
  auto what = of_seconds(1000, {.stall = 1}, failures::never{});
  what.stops = early_stops::uniform{0.4, 0.6, 1};
  const auto all = simulate(what, every_steps{100}, {.jobs = 3000});
  CHECK(agrees(mean_of(all, &outcome::steps), 499.5));
  for (const auto& each : all.jobs) {
    CHECK((each.steps >= 400 && each.steps <= 600));
    CHECK(each.saves == each.steps / 100);
    CHECK(each.work == static_cast<double>(each.steps));
  }
  struct quarter_at_250 {
    double alive(double part) const { return part > 0.25 ? 0.75 : 1; }
  };
  what.stops = quarter_at_250{};
  const auto quarter = mean_of(simulate(what, never_saves{}, {.jobs = 3000}), [](const outcome& each) {
    CHECK((each.steps == 250 || each.steps == 1000));
    return each.steps == 250 ? 1 : 0;
  });
  CHECK(agrees(quarter, 0.25));
}

TEST_CASE("when a job is stopped says nothing of when it fails") {
  auto what = of_seconds(1000, {}, failures::never{});
  what.stops = early_stops::uniform{0, 1, 1};
  const auto stopped = simulate(what, never_saves{}, {.jobs = 3000});
  what.stops = early_stops::none{};
  what.failures = exponential{duration(100)};
  const auto failed = simulate(what, never_saves{}, {.jobs = 3000, .most_failures = 0});
  std::vector<double> products;
  for (std::size_t i = 0; i < 3000; ++i)
    products.push_back((static_cast<double>(stopped.jobs[i].steps) - 499.5) * (failed.jobs[i].seconds - 100));
  CHECK(agrees(mean_of(products), 0));
}

TEST_CASE("the loss that a policy sees has noise of the stated size, the same when a step is done again") {
  auto what = of_seconds(20000, {}, at_age{15000.5});
  what.work.loss.assign(20001, 2);
  what.loss_noise = 0.1;
  const recorder policy{.at = {10000}};
  one(what, policy);
  const auto& asked = policy.all->asked;
  std::vector<double> logs, values;
  for (std::size_t i = 0; i < 15000; ++i) {
    values.push_back(*asked[i].loss);
    logs.push_back(std::pow(std::log(*asked[i].loss / 2) + 0.005, 2));
  }
  CHECK(agrees(mean_of(values), 2));
  CHECK(agrees(mean_of(logs), 0.01));
  REQUIRE(asked[15000].step == 10001);
  for (std::size_t i = 0; i < 5000; ++i) CHECK(asked[15000 + i].loss == asked[10000 + i].loss);
  what.work.loss.clear();
  const recorder blind{.at = {10000}};
  one(what, blind);
  CHECK_FALSE(blind.all->asked[0].loss.has_value());
}

TEST_CASE("what needs no far place is as without one") {
  auto what = of_seconds(1000, {.stall = 0.5}, exponential{duration(100)});
  const auto without = simulate(what, every_steps{7}, {.jobs = 20});
  what.far = {{.share = 0, .taken = 0, .seconds = 5}};
  CHECK(are_equal(simulate(what, every_steps{7}, {.jobs = 20}), without));
}

TEST_CASE("a failure that destroys the near place falls back to what was copied") {
  auto what = of_seconds(1000, {}, exponential{duration(100)});
  const auto near = one(what, every_steps{1});
  REQUIRE(near.failures > 3);
  const auto lost = [&](double share, double seconds) {
    what.far = {{.share = share, .taken = 0, .seconds = seconds}};
    const auto all = one(what, every_steps{1});
    return all.of(objective::machine_time).lost / static_cast<double>(all.failures);
  };
  const double at_once = near.of(objective::machine_time).lost / static_cast<double>(near.failures);
  CHECK(at_once <= 2);
  CHECK(lost(1, 0) <= at_once + 2);
  CHECK(lost(1, 20) >= at_once + 15);
  CHECK(lost(0, 20) == at_once);
  what.far = {{.share = 1, .taken = 0, .seconds = 1e9}};
  CHECK(simulate(what, every_steps{1}, {.jobs = 1, .most_failures = 100}).jobs[0].is_given_up);
}

TEST_CASE("a copy takes what it takes, at Young's period where the failures are known") {
  auto what = of_seconds(10'000, {}, failures::never{});
  what.far = {{.share = 1, .taken = 2, .seconds = 2}};
  what.copies = cairn::schedule::level_schedule(std::vector{cairn::known_mtbf(duration(10'000))});
  const double period = std::sqrt(2 * 2 * 10'000.0);
  CHECK(one(what, every_steps{1}).of(objective::machine_time).waiting == Approx(2 * 10'000 / period).epsilon(0.03));
}

TEST_CASE("scenarios that cannot be are refused") {
  const double infinite = std::numeric_limits<double>::infinity(), no_number = std::nan("");
  const auto is_refused = [](const scenario& what) {
    try {
      one(what, never_saves{});
      return false;
    } catch (const cairn::error& caught) {
      return caught.code() == cairn::errc::invalid;
    }
  };
  for (const double bad : {-1.0, infinite, no_number}) {
    const auto fine = of_seconds(3, {}, failures::never{});
    CHECK_FALSE(is_refused(fine));
    for (const auto part : {&save_times::stall, &save_times::background, &save_times::slowdown, &save_times::restore})
      for (std::size_t kind = 0; kind < 3; ++kind) {
        auto what = fine;
        what.kinds[kind].takes.*part = bad;
        CHECK(is_refused(what));
      }
    auto what = fine;
    what.loss_noise = bad;
    CHECK(is_refused(what));
    what = fine;
    what.work.workers = {1, bad, 1};
    CHECK(is_refused(what));
    what = fine;
    what.work.seconds[1] = bad;
    CHECK(is_refused(what));
    for (const auto part : {&far_place::share, &far_place::taken, &far_place::seconds}) {
      what = fine;
      what.far.resize(1);
      what.far[0].*part = bad;
      CHECK(is_refused(what));
    }
  }
  auto what = of_seconds(3, {.slowdown = 1.5}, failures::never{});
  CHECK(is_refused(what));
  what = of_seconds(3, {}, failures::never{});
  what.work.loss = {1, 2};
  CHECK(is_refused(what));
  what = of_seconds(3, {}, failures::never{});
  what.anchor_every = 0;
  CHECK(is_refused(what));
  what = of_seconds(3, {}, failures::never{});
  what.far = {{.share = 0.6}, {.share = 0.5}};
  CHECK(is_refused(what));
}

template <class Draw>
std::vector<double> draws(int count, const Draw& draw) {
  std::vector<double> all;
  for (int i = 0; i < count; ++i) all.push_back(draw(static_cast<std::uint64_t>(i)));
  return all;
}

/// The mean, and that of the squares, by 99.9 %.
bool has_moments(std::vector<double> values, double first, double second) {
  const auto is_near = [&](double expected) {
    const auto found = mean_of(values);
    return std::abs(found.mean - expected) < 3.29 * found.standard_error;
  };
  const bool has_first = is_near(first);
  for (auto& each : values) each *= each;
  return has_first && is_near(second);
}

/// The greatest distance between the distribution found and the one expected, times the root of their number:
/// Kolmogorov's.
template <class Distribution>
double distance(std::vector<double> values, const Distribution& expected) {
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  double greatest = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    greatest = std::max(greatest, std::abs((static_cast<double>(i) + 0.5) / n - expected(values[i])));
  return greatest * std::sqrt(n);
}

}  // namespace

TEST_CASE("streams of a seed, and seeds that follow on each other, have no numbers in common") {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 10; ++seed)
    for (std::uint64_t stream = 0; stream < 10; ++stream)
      for (std::uint64_t i = 0; i < 100; ++i) seen.insert(seeded_numbers(seed).stream(stream).bits(i));
  CHECK(seen.size() == 10000);
}

TEST_CASE("numbers are distributed as they say") {
  const int n = 50000;
  for (const std::uint64_t seed : {0U, 1U, 99U}) {
    const auto numbers = seeded_numbers(seed).stream(3);
    const auto uniform = draws(n, [&](auto i) { return numbers.uniform(i); });
    const auto exponential = draws(n, [&](auto i) { return numbers.exponential(i); });
    const auto normal = draws(n, [&](auto i) { return numbers.normal(i); });
    const auto across = draws(n, [&](auto i) { return seeded_numbers(seed).stream(i).uniform(0); });
    CHECK(has_moments(uniform, 0.5, 1 / 3.0));
    CHECK(has_moments(across, 0.5, 1 / 3.0));
    CHECK(has_moments(exponential, 1, 2));
    CHECK(has_moments(normal, 0, 1));
    CHECK(distance(uniform, [](double x) { return x; }) < 1.95);  // one in a thousand is greater
    CHECK(distance(across, [](double x) { return x; }) < 1.95);
    CHECK(distance(exponential, [](double x) { return -std::expm1(-x); }) < 1.95);
    CHECK(distance(normal, [](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }) < 1.95);
    CHECK(*std::min_element(uniform.begin(), uniform.end()) > 0);
    CHECK(*std::max_element(uniform.begin(), uniform.end()) < 1);
  }
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
  CHECK(a.pass(1e6, 1) == b.pass(1e6, 1));
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

TEST_CASE("a mean and its interval, by hand") {
  const auto of_four = mean_of(std::vector<double>{1, 2, 3, 6});
  CHECK(of_four.mean == 3);
  CHECK(of_four.standard_error == Approx(std::sqrt(14.0 / 3 / 4)));
  CHECK(of_four.high() == Approx(3 + 1.96 * of_four.standard_error).epsilon(1e-4));
  CHECK(of_four.low() == Approx(3 - 1.96 * of_four.standard_error).epsilon(1e-4));
}

TEST_CASE("one value says nothing of how far it may be off, and none is 0") {
  CHECK(mean_of(std::vector<double>{5}).mean == 5);
  CHECK(std::isinf(mean_of(std::vector<double>{5}).standard_error));
  CHECK(mean_of(std::vector<double>{}).mean == 0);
  CHECK(std::isinf(mean_of(std::vector<double>{}).standard_error));
}
