// SPDX-License-Identifier: MIT
#include "cairn/schedule/coci.hpp"

#include "cairn/schedule/fits/estimators.hpp"
#include "catch.hpp"
#include "driven_run.hpp"

namespace {

using cairn::loss_curve;
using cairn::policies::coci;
using cairn::policies::coci_options;
using std::chrono::duration;
using std::chrono::hours;
using std::chrono::seconds;
using steps = std::vector<std::uint64_t>;

constexpr double known = std::numeric_limits<double>::infinity();  // nothing is learned
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

/// What all copies of an estimator have been given, and are to answer.
struct script {
  std::optional<loss_curve> curve{};
  std::vector<double> observed{};
};

struct scripted {
  std::shared_ptr<script> of;

  void observe(double /*step*/, double loss) { of->observed.push_back(loss); }
  std::optional<loss_curve> curve() { return of->curve; }
};

/// exp(-step / scale + height).
loss_curve exponential(double scale, double height = 0) {
  return {.shape = loss_curve::family::exponential, .p = {-1 / scale, height}};
}

/// A stall of a second, an MTBF of four hours, iterations of a second.
coci_options known_costs(const std::shared_ptr<script>& fit, double stall = 1) {
  return {.mtbf = cairn::known_mtbf(hours{4}), .stall = duration<double>(stall), .estimator = scripted{fit}};
}

/// The published P, for p1 per minute, S in minutes, f per minute.
double published_drop(double p1, double s, double f, double x = 1, double w = 1) {
  return (1 - std::exp(x * p1 * w * s)) * (1 / (2 * f) - 1 / (2 * x * p1));
}

const std::uint64_t daly_steps = static_cast<std::uint64_t>(std::lround(cairn::schedule::daly_interval(1, 4 * 3600)));

}  // namespace

static_assert(cairn::policy<coci>);

TEST_CASE("COCI: nothing that is observed trips it") {
  driven::survives(coci({.estimator = cairn::estimators::exponential()}), 40);
  driven::survives(coci({.estimator = cairn::estimators::exponential(), .refit_steps = 0, .replan_at = 0}), 10);
  for (const double bad : {0.0, -1.0, no_number, known, 1e300}) {
    coci_options options{.mtbf = {.mtbf = duration<double>(bad)},
                         .stall = duration<double>(bad),
                         .estimator = cairn::estimators::exponential()};
    options.replan_at = options.speedup_power = bad;
    driven::survives(coci(options), 10);
    for (const double scale : {1.0, 1e5, -1e5, no_number, 1e-320}) {
      options.estimator = scripted{std::make_shared<script>(script{exponential(scale, bad)})};
      driven::survives(coci(options), 3);
    }
  }
}

TEST_CASE("COCI: checkpoints at equal drops of the loss, as published") {
  for (const double height : {0.0, 2.3, -4.0})
    for (const double stall : {0.13, 1.6})
      for (const double scale : {600.0, 5000.0}) {
        INFO("height " << height << ", stall " << stall << ", scale " << scale);
        coci policy(known_costs(std::make_shared<script>(script{exponential(scale, height)}), stall));
        driven::run run{.cost = {.stall_seconds = stall}};
        for (int i = 0; i < 3000; ++i) run.step(policy, 1.0);
        const double drop = published_drop(-60 / scale, stall / 60, 1 / 240.0);
        double level = std::exp(-1 / scale);  // the first step seen is 1: there the loss is 1
        const double unit = level;
        level = 1;
        std::size_t slots = 0;
        for (; slots < run.saves.size(); ++slots) {
          if (level / unit - drop <= 0) break;
          level -= drop * unit;
          const double due = -scale * std::log(level);
          if (due > 3000) break;
          INFO("slot " << slots);
          CHECK(static_cast<double>(run.saves[slots]) == Approx(due).margin(0.51));
          level = std::exp(-static_cast<double>(run.saves[slots]) / scale);
        }
        CHECK(slots >= 2);
      }
}

TEST_CASE("COCI: after the last drop Daly takes over") {
  coci policy(known_costs(std::make_shared<script>(script{exponential(100)})));
  driven::run run;
  run.steps(policy, 5000);
  REQUIRE(published_drop(-0.6, 1 / 60.0, 1 / 240.0) > 1);
  CHECK(run.newest_gap() == daly_steps);
  coci late(known_costs(std::make_shared<script>(script{exponential(600)})));
  driven::run other;
  other.steps(late, 5000);
  CHECK(other.saves.front() != daly_steps);
  CHECK(other.newest_gap() == daly_steps);
}

TEST_CASE("COCI: never longer than an hour without a checkpoint, however little the loss falls") {
  coci policy(known_costs(std::make_shared<script>(script{exponential(60000)})));
  driven::run run{.iteration = 10};
  run.steps(policy, 2000);
  REQUIRE(published_drop(-1e-4, 1 / 60.0, 1 / 240.0) < 1e-4 * 90);  // 85 minutes
  CHECK(run.saves.front() == 360);
  CHECK(run.newest_gap() == 360);
}

TEST_CASE("COCI: Daly's intervals while there is no fit, or one that does not fall or is no number") {
  const auto flat = std::make_shared<script>();
  for (const auto& curve :
       {std::optional<loss_curve>(), std::optional(exponential(-1000)), std::optional(exponential(known)),
        std::optional(exponential(no_number)), std::optional(exponential(1000, known))}) {
    flat->curve = curve;
    coci policy(known_costs(flat));
    driven::run run;
    for (int i = 0; i < 1000; ++i) run.step(policy, 1.0);
    CHECK(run.saves.front() == daly_steps);
    CHECK(run.newest_gap() == daly_steps);
  }
}

TEST_CASE("COCI: an untrusted fit is forgotten") {
  const auto fit = std::make_shared<script>(script{exponential(3000)});
  coci policy(known_costs(fit, 0.1));
  driven::run run;
  run.steps(policy, 200);
  CHECK(run.newest_gap() < 60);
  fit->curve.reset();
  run.steps(policy, 400);
  CHECK(run.newest_gap() == Approx(cairn::schedule::daly_interval(0.1, 4 * 3600)).margin(1));
}

TEST_CASE("COCI: losses that are absent, NaN or infinite are not fitted") {
  const auto fit = std::make_shared<script>();
  coci policy(known_costs(fit));
  driven::run run;
  for (const auto& loss : {std::optional(3.0), std::optional(no_number), std::optional<double>(), std::optional(known),
                           std::optional(-known), std::optional(2.0)})
    run.step(policy, loss);
  CHECK(fit->observed == std::vector<double>{3, 2});
}

TEST_CASE("COCI: a new fit is taken when a parameter has moved, and no slot of the old plan is left over") {
  const auto fit = std::make_shared<script>(script{exponential(3000)});
  const auto gap_after = [&](const loss_curve& second) {
    fit->curve = exponential(3000);
    auto options = known_costs(fit, 0.1);
    options.replan_at = 0.1;
    options.refit_steps = 10;
    coci policy(options);
    driven::run run;
    while (run.saves.size() < 3) run.step(policy, 1.0);
    fit->curve = second;
    const auto until = run.saves.back();
    while (run.saves.back() == until) run.step(policy, 1.0);
    return std::pair(until, run.saves.back());
  };
  const auto [from, same] = gap_after(exponential(3000));
  CHECK(gap_after(exponential(2800)).second == same);
  CHECK(gap_after(exponential(2200)).second != same);
  const double drop = published_drop(-60 / 1000.0, 0.1 / 60, 1 / 240.0);
  const double unit = std::exp(-1 / 1000.0), level = std::exp(-static_cast<double>(from) / 1000) - drop * unit;
  const auto replanned = gap_after(exponential(1000));
  CHECK(static_cast<double>(replanned.second) == Approx(-1000 * std::log(level)).margin(0.51));
  CHECK(replanned.second != same);
}

TEST_CASE("COCI: data-parallel, P_j and x_j are those of the workers at work") {
  const double scale = 20000, stall = 0.1;
  const auto first_gap = [&](double workers, double workers_at_fit, double power) {
    const auto fit = std::make_shared<script>(script{exponential(scale)});
    auto options = known_costs(fit, stall);
    options.speedup_power = power;
    coci policy(options);
    driven::run run{.workers = workers_at_fit};
    run.step(policy, 1.0);
    run.workers = workers;
    run.now.saved_step = run.now.step;  // of another's making
    while (run.saves.empty()) run.step(policy, 1.0);
    return static_cast<double>(run.saves.front() - 1);
  };
  const auto expected = [&](double x, double w) {
    const double drop = published_drop(-60 / scale, stall / 60, w / 240.0, x, w);
    return -scale * std::log(1 - drop) / x;
  };
  CHECK(first_gap(1, 1, 1) == Approx(expected(1, 1)).margin(1));
  CHECK(first_gap(4, 4, 1) == Approx(expected(1, 4)).margin(1));
  CHECK(first_gap(2, 4, 1) == Approx(expected(0.5, 2)).margin(1));
  CHECK(first_gap(1, 4, 1) == Approx(expected(0.25, 1)).margin(1));
  CHECK(first_gap(1, 4, 0.5) == Approx(expected(0.5, 1)).margin(1));
  CHECK(first_gap(1, 4, 0) == Approx(expected(1, 1)).margin(1));
}

TEST_CASE("COCI: another family of curves counts with its relative slope at the newest checkpoint") {
  const loss_curve inverse{.shape = loss_curve::family::inverse_linear, .p = {0.001, 1, 0.5}};
  coci policy(known_costs(std::make_shared<script>(script{inverse}), 0.1));
  driven::run run;
  run.steps(policy, 600);
  const double drop = published_drop(60 * inverse.slope(0) / inverse.at(0), 0.1 / 60, 1 / 240.0);
  const double target = inverse.at(0) * (1 - drop);
  const auto first = static_cast<double>(run.saves.front());
  CHECK(inverse.at(first - 0.5) >= target);
  CHECK(inverse.at(first + 0.5) <= target);
}

TEST_CASE("COCI: on a noisy exponential loss, checkpoints are dense first and rare later") {
  std::mt19937 random(7);
  std::normal_distribution<double> noise(1, 0.1);
  coci policy({.mtbf = cairn::known_mtbf(hours{4}), .estimator = cairn::estimators::exponential()});
  driven::run run{.cost = {.stall_seconds = 0.27}};
  for (int i = 1; i <= 6000; ++i) run.step(policy, 2.3 * std::exp(-i / 3000.0) * noise(random));
  CHECK(run.saves.front() == cairn::schedule::probe_steps);
  const auto within = [&](std::uint64_t from, std::uint64_t to) {
    return static_cast<double>(
        std::count_if(run.saves.begin(), run.saves.end(), [&](auto step) { return step > from && step <= to; }));
  };
  const auto early = within(1000, 2000), late = within(4000, 5000);
  CHECK(early == Approx(late * std::exp(1.0)).epsilon(0.2));
}

TEST_CASE("COCI: the fit continues after a restart") {
  const coci fresh({.mtbf = cairn::known_mtbf(hours{4}), .estimator = cairn::estimators::exponential()});
  auto policy = fresh;
  driven::run run{.cost = {.stall_seconds = 0.27}};
  const auto go_on = [](driven::run& one, coci& with, int count) {
    for (int i = 0; i < count; ++i) one.step(with, 2.3 * std::exp(-static_cast<double>(one.now.step) / 3000.0));
  };
  go_on(run, policy, 2000);
  auto restored = fresh;
  restored.recall(policy.remember());
  CHECK(restored.remember() == policy.remember());
  run.now.saved_step = run.now.step;
  run.now.saved_seconds = run.now.seconds;
  auto other = run;
  run.saves.clear();
  other.saves.clear();
  go_on(run, policy, 1000);
  go_on(other, restored, 1000);
  REQUIRE(run.saves.size() > 10);
  REQUIRE(run.saves.front() < 2080);  // Daly would be at 2088
  CHECK(static_cast<double>(other.saves.front()) == Approx(static_cast<double>(run.saves.front())).margin(1));
  CHECK(std::abs(static_cast<double>(run.saves.size()) - static_cast<double>(other.saves.size())) <= 1);
}
