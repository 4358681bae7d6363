// SPDX-License-Identifier: MIT
#include "cairn/schedule/fits/estimators.hpp"

#include "cairn/schedule/fits/fit.hpp"
#include "catch.hpp"

namespace {

using cairn::any_estimator;
using cairn::loss_curve;
using cairn::policy_memory;
using family = loss_curve::family;
namespace estimators = cairn::estimators;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Losses as they are published, over n steps: from ln 10 or ln 1000 or more, to a floor or to none.
std::vector<loss_curve> published(double n) {
  return {{family::exponential, {-1 / n, std::log(2.3)}},
          {family::exponential, {-3 / n, std::log(2.3)}},
          {family::exponential_floor, {2, 6 / n, 0.3}},
          {family::exponential_floor, {5, 10 / n, 1.5}},
          {family::inverse_linear, {5 / n, 0.5, 0.05}},
          {family::inverse_linear, {60 / n, 0.2, 1}},
          {family::inverse_quadratic, {20 / n / n, 5 / n, 0.5, 0.1}},
          {family::inverse_quadratic, {5 / n / n, 20 / n, 0.2, 0.5}},
          {family::power_law, {2.3, 0.5, 0}},
          {family::power_law, {6, 0.3, 1}}};
}

estimators::fitted_curves of(family shape) { return estimators::fitted_curves{shape}; }

std::vector<any_estimator> all() {
  return {estimators::exponential{},    estimators::exponential_floor{}, estimators::geometric{},
          estimators::inverse_linear{}, estimators::inverse_quadratic{}, estimators::power_law{},
          estimators::best_of{}};
}

/// A loss with multiplicative noise, step by step.
class noisy {
 public:
  noisy(const loss_curve& curve, double noise, unsigned seed) : curve_(curve), noise_(noise), random_(seed) {}
  double operator()(int step) { return curve_.at(step) * (1 + noise_ * normal_(random_)); }

 private:
  loss_curve curve_;
  double noise_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
};

/// Shows `estimator` the losses of steps [from, to); asks for the curve now and then, as a policy does.
template <class Estimator, class Loss>
void show(Estimator& estimator, int from, int to, Loss&& loss) {
  for (int step = from; step < to; ++step) {
    estimator.observe(step, loss(step));
    if (step % 7 == 0) (void)estimator.curve();
  }
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.at(values.size() / 2);
}

/// |predicted - true| / true at twice the steps; infinite where nothing is predicted.
template <class Estimator>
double error_at_twice(Estimator estimator, const loss_curve& curve, int steps, double noise, unsigned seed) {
  show(estimator, 0, steps, noisy(curve, noise, seed));
  const auto told = estimator.curve();
  return told ? std::abs(told->at(2 * steps) / curve.at(2 * steps) - 1) : infinity;
}

}  // namespace

static_assert(cairn::estimator<estimators::exponential>);
static_assert(cairn::estimator<estimators::best_of>);
static_assert(sizeof(estimators::best_of) < 4096, "a policy is copied for every restart that is simulated");

TEST_CASE("without noise, the loss at twice the steps is predicted nearly exactly") {
  for (const int steps : {300, 5000})
    for (const auto& curve : published(steps)) {
      INFO(name(curve.shape) << ", " << steps << " steps");
      CHECK(error_at_twice(of(curve.shape), curve, steps, 0, 1) < 1e-3);
      CHECK(error_at_twice(estimators::best_of{}, curve, steps, 0, 1) < 1e-2);
    }
}

TEST_CASE("with a noise of 10 percent, the loss at twice the steps is predicted within 10 percent") {
  for (const int steps : {500, 2000, 10000})
    for (const auto& curve : published(steps)) {
      std::vector<double> own, best;
      for (unsigned seed = 1; seed <= 7; ++seed) {
        own.push_back(error_at_twice(of(curve.shape), curve, steps, 0.1, seed));
        best.push_back(error_at_twice(estimators::best_of{}, curve, steps, 0.1, seed));
      }
      INFO(name(curve.shape) << ", " << steps << " steps");
      CHECK(median(own) < 0.1);
      CHECK(median(best) < 0.1);
    }
}

TEST_CASE("the best of all tells an exponential from a power law") {
  const loss_curve falls_fast{family::exponential_floor, {5, 1e-2, 1.5}}, falls_long{family::power_law, {6, 0.3, 1}};
  for (const auto& curve : {falls_fast, falls_long}) {
    estimators::best_of best;
    show(best, 0, 2000, noisy(curve, 0.1, 1));
    REQUIRE(best.curve());
    CHECK(best.curve()->shape == curve.shape);
  }
  estimators::best_of of_one{family::power_law, family::power_law};
  show(of_one, 0, 2000, noisy(falls_long, 0.1, 1));
  REQUIRE(of_one.curve());
  CHECK(of_one.curve()->shape == family::power_law);
}

TEST_CASE("of two fits that can be trusted, the better one is given") {
  int runs = 0, least = 0;
  for (const auto& curve : published(1000))
    for (unsigned seed = 1; seed <= 5; ++seed) {
      estimators::best_of best;
      show(best, 0, 1000, noisy(curve, 0.3, seed));
      const auto told = best.curve();
      if (!told) continue;
      double criterion = infinity;
      family shape{};
      for (const auto one : {family::exponential, family::exponential_floor, family::inverse_linear,
                             family::inverse_quadratic, family::power_law})
        if (const auto fit = cairn::schedule::fit(one, best.window().buckets()); fit && fit->criterion < criterion) {
          criterion = fit->criterion;
          shape = one;
        }
      ++runs;
      if (told->shape == shape) ++least;
    }
  CHECK(runs > 40);
  CHECK(least > 0.8 * runs);
}

TEST_CASE("a prediction that is too uncertain is none: how far a straight line will fall, nobody knows") {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    estimators::exponential_floor estimator;
    noisy noise({family::exponential_floor, {0, 1, 1}}, 0.5, seed);
    show(estimator, 0, 500, [&](int step) { return noise(step) - 1 - step / 1000.0; });
    CHECK_FALSE(estimator.curve());
  }
}

TEST_CASE("a curve that the newest losses have left is none: a power law is no exponential") {
  const loss_curve power{family::power_law, {6, 0.3, 1}};
  estimators::exponential exponential;
  estimators::power_law itself;
  show(exponential, 0, 3000, noisy(power, 0.02, 1));
  show(itself, 0, 3000, noisy(power, 0.02, 1));
  CHECK_FALSE(exponential.curve());
  CHECK(itself.curve());
}

TEST_CASE("spikes, NaN and infinity move a prediction by little") {
  for (const auto& curve : published(2000)) {
    estimators::best_of clean, with;
    noisy loss(curve, 0.1, 3);
    for (int step = 0; step < 2000; ++step) {
      const double value = loss(step);
      clean.observe(step, value);
      with.observe(step, step % 100 == 50 ? 10 * value : step % 100 == 51 ? not_a_number : value);
      if (step % 100 == 52) with.observe(step, infinity);
    }
    INFO(name(curve.shape));
    REQUIRE((clean.curve() && with.curve()));
    CHECK(with.curve()->at(4000) == Approx(clean.curve()->at(4000)).epsilon(0.1));
    CHECK(with.curve()->at(2000) == Approx(curve.at(2000)).epsilon(0.05));
  }
}

TEST_CASE("a loss that does not fall has no curve") {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::student_t_distribution<double> heavy(3);
  const std::vector<std::function<double(int)>> losses{
      [](int) { return 0.0; },
      [](int) { return 1.0; },
      [](int) { return -1e30; },
      [](int) { return not_a_number; },
      [](int step) { return step % 2 == 0 ? infinity : -infinity; },
      [](int step) { return 1 + 1e-3 * step; },
      [](int step) { return std::exp(1e-2 * step); },
      [](int step) { return step % 2 == 0 ? 1.0 : 2.0; },
      [&](int) { return 1 + 0.1 * normal(random); },
      [&](int) { return std::abs(normal(random)); },
      [&](int) { return 5 + heavy(random); },
      [&](int step) { return 1 + 1e-3 * step + 0.1 * normal(random); }};
  const int steps = 3000;
  const std::size_t clean = 8;  // those without noise
  for (std::size_t i = 0; i < losses.size(); ++i)
    for (auto& estimator : all()) {
      int trusted = 0;
      for (int step = 0; step < steps; ++step) {
        estimator.observe(step, losses[i](step));
        if (estimator.curve()) ++trusted;
      }
      INFO("loss " << i);
      CHECK(trusted <= (i < clean ? 0 : steps / 100));  // chance may look like a fall for a while
    }
}

TEST_CASE("two losses make no curve, nor does one step seen over and over") {
  for (auto& estimator : all()) {
    CHECK_FALSE(estimator.curve());
    estimator.observe(0, 2);
    estimator.observe(1, 1);
    CHECK_FALSE(estimator.curve());
    for (int i = 0; i < 1000; ++i) estimator.observe(1, 1.0 / (1 + i));
    CHECK_FALSE(estimator.curve());
  }
}

TEST_CASE("losses at or below zero have no exponential, but may have one to a floor") {
  const loss_curve below{family::exponential_floor, {2, 3e-3, -1}};
  estimators::exponential to_zero;
  estimators::exponential_floor to_floor;
  show(to_zero, 0, 2000, noisy(below, 0, 1));
  show(to_floor, 0, 2000, noisy(below, 0, 1));
  CHECK_FALSE(to_zero.curve());
  REQUIRE(to_floor.curve());
  CHECK(to_floor.curve()->at(4000) == Approx(-1).epsilon(1e-3));
}

TEST_CASE("a loss that comes to zero and stays there is the curve to a floor of zero") {
  estimators::best_of best;
  show(best, 0, 3000, [](int step) { return step < 500 ? 2 * std::exp(-step / 60.0) : 0; });
  REQUIRE(best.curve());
  CHECK(best.curve()->at(6000) == Approx(0).margin(1e-3));
}

TEST_CASE("where the loss begins to rise or becomes NaN, no curve is trusted") {
  const loss_curve curve{family::exponential_floor, {2, 6e-3, 0.3}};
  const std::vector<std::function<double(int)>> after{[](int step) { return 0.4 + (step - 1000) * 0.03; },
                                                      [](int) { return 3.0; }, [](int) { return not_a_number; }};
  for (std::size_t i = 0; i < after.size(); ++i)
    for (auto& estimator : all()) {
      show(estimator, 0, 1000, noisy(curve, 0.05, 1));
      show(estimator, 1000, 1100, after[i]);
      INFO("way " << i);
      CHECK_FALSE(estimator.curve());
    }
}

TEST_CASE("where the loss drops at once, as with a new rate of learning, the curve of before is not trusted") {
  const loss_curve curve{family::exponential_floor, {2, 6e-3, 0.5}};
  estimators::best_of best;
  show(best, 0, 1000, noisy(curve, 0.05, 1));
  REQUIRE(best.curve());
  show(best, 1000, 1100, noisy({family::exponential_floor, {0, 1, 0.2}}, 0.05, 2));
  CHECK_FALSE(best.curve());
}

TEST_CASE("after a run went back the curve is that of what was before") {
  const loss_curve curve{family::exponential_floor, {2, 6e-3, 0.3}};
  estimators::exponential_floor estimator;
  show(estimator, 0, 1000, noisy(curve, 0.05, 1));
  show(estimator, 1000, 1200, [](int step) { return step - 999; });
  CHECK_FALSE(estimator.curve());
  show(estimator, 950, 1200, noisy(curve, 0.05, 2));
  REQUIRE(estimator.curve());
  CHECK(estimator.curve()->at(2000) == Approx(0.3).epsilon(0.05));
}

TEST_CASE("a run taken back is fitted again at once, and not while there is too little of it") {
  const loss_curve before{family::exponential_floor, {2, 6e-3, 0.3}}, after{family::exponential_floor, {2, 6e-3, 0.35}};
  estimators::exponential_floor estimator;
  show(estimator, 0, 1000, noisy(before, 0.01, 1));
  REQUIRE(estimator.curve());
  estimator.observe(3, before.at(3));
  CHECK_FALSE(estimator.curve());
  show(estimator, 4, 900, noisy(after, 0.01, 2));
  REQUIRE(estimator.curve());
  CHECK(estimator.curve()->at(2000) == Approx(0.35).epsilon(0.02));
}

TEST_CASE("fits are few: a curve stays the same until the steps have grown by a fifth") {
  estimators::best_of best;
  noisy loss({family::power_law, {6, 0.3, 1}}, 0.1, 1);
  int changes = 0;
  std::optional<loss_curve> before;
  for (int step = 0; step < 10000; ++step) {
    best.observe(step, loss(step));
    const auto now = best.curve();
    if (now && (!before || now->p != before->p)) ++changes;
    if (now) before = now;
  }
  CHECK(changes > 20);
  CHECK(changes <= 45);
}

TEST_CASE("a scaled loss gives the scaled curve; scaled steps give the curve of those") {
  for (const auto& curve : published(2000)) {
    if (curve.shape == family::power_law) continue;  // x + 1 is not scaled with x
    auto plain = of(curve.shape), tiny = of(curve.shape), huge = of(curve.shape), wide = of(curve.shape);
    noisy loss(curve, 0.1, 5);
    for (int step = 0; step < 2000; ++step) {
      const double value = loss(step);
      plain.observe(step, value);
      tiny.observe(step, 1e-30 * value);
      huge.observe(step, 1e30 * value);
      wide.observe(64.0 * step, value);
    }
    INFO(name(curve.shape));
    REQUIRE((plain.curve() && tiny.curve() && huge.curve() && wide.curve()));
    for (const double x : {0.0, 1000.0, 4000.0}) {
      const double expected = plain.curve()->at(x);
      CHECK(tiny.curve()->at(x) == Approx(1e-30 * expected).epsilon(1e-3));
      CHECK(huge.curve()->at(x) == Approx(1e30 * expected).epsilon(1e-3));
      CHECK(wide.curve()->at(64 * x) == Approx(expected).epsilon(1e-9));
    }
  }
}

TEST_CASE("an estimator remembered and recalled gives the same curve, bit for bit, then and later") {
  for (const auto& curve : published(3000)) {
    estimators::best_of first, second;
    noisy loss(curve, 0.1, 7);
    show(first, 0, 1777, loss);
    policy_memory memory;
    first.remember(memory);
    second.recall(memory);
    policy_memory again;
    second.remember(again);
    CHECK(again == memory);
    for (int step = 1777; step < 3000; ++step) {
      const auto a = first.curve(), b = second.curve();
      REQUIRE(a.has_value() == b.has_value());
      if (a) REQUIRE((a->shape == b->shape && a->p == b->p));
      const double value = loss(step);
      first.observe(step, value);
      second.observe(step, value);
    }
  }
}

TEST_CASE("a memory of other families gives the losses, and one that is not whole gives no more") {
  const loss_curve curve{family::exponential_floor, {2, 6e-3, 0.3}};
  estimators::best_of best;
  show(best, 0, 1000, noisy(curve, 0.05, 1));
  policy_memory memory;
  best.remember(memory);

  estimators::exponential_floor other;
  other.recall(memory);
  REQUIRE(other.curve());
  CHECK(other.curve()->at(2000) == Approx(0.3).epsilon(0.05));

  auto without_losses = memory, without_fits = memory;
  without_losses.erase("losses");
  without_fits.erase("loss_fits");
  const auto same = [](auto first, const policy_memory& of_first, const policy_memory& of_second) {
    auto second = first;
    first.recall(of_first);
    second.recall(of_second);
    const auto a = first.curve(), b = second.curve();
    return a.has_value() == b.has_value() && (!a || a->p == b->p);
  };
  for (std::size_t at = 0; at < memory.at("loss_fits").size(); ++at)
    for (const double bad : {not_a_number, infinity}) {
      auto broken = memory;
      broken["loss_fits"][at] = bad;
      CHECK(same(estimators::best_of{}, broken, without_fits));
    }
  CHECK(same(estimators::exponential{}, memory, without_fits));
  policy_memory of_floor;
  other.remember(of_floor);
  CHECK(same(estimators::inverse_linear{}, of_floor, without_fits));
  CHECK(same(other, without_losses, {}));

  estimators::best_of read;
  read.recall(without_losses);
  CHECK_FALSE(read.curve());
  read.recall({});
  CHECK_FALSE(read.curve());
}

TEST_CASE("no curve is anything but finite, whatever is observed") {
  std::mt19937_64 random(11);
  for (int round = 0; round < 60; ++round)
    for (auto& estimator : all()) {
      double step = 0;
      for (int i = 0; i < 600; ++i) {
        const auto kind = random() % 64;
        step = kind == 0 ? step / 2 : kind == 1 ? step * 2 : step + 1;
        const double exponent = round % 3 == 0 ? static_cast<double>(random() % 200) - 100 : 0;
        double loss = std::pow(10, exponent) / (1 + step / 50) + 0.01 * static_cast<double>(random() % 10);
        if (kind == 2) loss = not_a_number;
        if (kind == 3) loss = -loss;
        estimator.observe(kind == 4 ? -step : step, loss);
        const auto curve = estimator.curve();
        if (!curve) continue;
        for (const double p : curve->p) REQUIRE(std::isfinite(p));
        REQUIRE(std::isfinite(curve->at(step)));
        REQUIRE(std::isfinite(curve->slope(step)));
        REQUIRE(curve->slope(step) <= 0);
      }
    }
}
