// SPDX-License-Identifier: MIT
#include "cairn/schedule/fits/fit.hpp"

#include "catch.hpp"

namespace {

using namespace cairn::schedule;
using namespace cairn::schedule::detail;
using cairn::loss_curve;
using family = loss_curve::family;

/// One curve of each family, over n steps.
std::vector<loss_curve> curves_over(double n) {
  return {{family::exponential, {-3 / n, 0.8}},
          {family::exponential_floor, {2, 6 / n, 0.3}},
          {family::inverse_linear, {20 / n, 0.43, 0.1}},
          {family::inverse_quadratic, {50 / n / n, 1 / n, 0.43, 0.2}},
          {family::power_law, {6, 0.3, 1}}};
}

/// Buckets of a curve of a loss with multiplicative noise.
loss_window seen(const loss_curve& curve, int steps, double noise = 0, unsigned seed = 1, double begin = 0) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  loss_window window;
  for (int i = 0; i < steps; ++i) window.observe(begin + i, curve.at(begin + i) * (1 + noise * normal(random)));
  return window;
}

}  // namespace

TEST_CASE("a curve without noise is found again, wherever the losses begin and whatever the start") {
  for (const int steps : {200, 3000})
    for (const auto& curve : curves_over(steps))
      for (const double begin : {0.0, steps / 2.0}) {
        const auto window = seen(curve, steps, 0, 1, begin);
        const auto found = fit(curve.shape, window.buckets());
        INFO(name(curve.shape) << ", " << steps << " steps from " << begin);
        REQUIRE(found);
        CHECK(found->converged);
        const double twice = begin + 2 * steps, fall = curve.at(begin) - curve.at(begin + steps);
        CHECK(std::abs(found->curve.at(twice) - curve.at(twice)) < 1e-3 * fall);
        CHECK(std::abs(found->curve.slope(steps + begin) / curve.slope(steps + begin) - 1) < 0.01);
        CHECK(found->fall == Approx(fall).epsilon(1e-2));

        for (const auto& start : {found->curve, loss_curve{curve.shape, {}}}) {
          const auto again = fit(curve.shape, window.buckets(), &start);
          REQUIRE(again);
          CHECK(std::abs(again->curve.at(twice) - curve.at(twice)) < 1e-3 * fall);
        }
      }
}

TEST_CASE("the standard error is that of the prediction") {
  for (const auto& curve : curves_over(2000)) {
    const double twice = curve.at(4000);
    double squares = 0, told = 0;
    const int seeds = 40;
    for (unsigned seed = 1; seed <= seeds; ++seed) {
      const auto found = fit(curve.shape, seen(curve, 2000, 0.1, seed).buckets());
      REQUIRE(found);
      squares += std::pow(found->curve.at(4000) - twice, 2) / seeds;
      told += found->error_at_twice / seeds;
    }
    INFO(name(curve.shape) << ": " << std::sqrt(squares) << " told as " << told);
    CHECK(std::sqrt(squares) < 3 * told);
    CHECK(std::sqrt(squares) > told / 3);
  }
}

TEST_CASE("the scale of the residuals is about 1 for a curve of the family, and more for another") {
  const loss_curve curve{family::exponential_floor, {2, 6e-3, 0.3}};
  const auto window = seen(curve, 1000, 0.1);
  CHECK(fit(curve.shape, window.buckets())->scale == Approx(1).margin(0.5));
  const auto other = fit(family::exponential, window.buckets());
  REQUIRE(other);
  CHECK(other->scale > 2);
  CHECK(other->criterion > fit(curve.shape, window.buckets())->criterion + 10);
}

TEST_CASE("a bucket far off moves the curve by little") {
  for (const auto& curve : curves_over(2000)) {
    auto window = seen(curve, 2000, 0.02);
    std::vector<loss_bucket> buckets(window.buckets().begin(), window.buckets().end());
    for (const std::size_t at : {buckets.size() / 2, buckets.size() * 3 / 4, buckets.size() - 8}) {
      auto spiked = buckets;
      spiked[at].loss_sum *= 10;
      const auto found = fit(curve.shape, spiked), without = fit(curve.shape, buckets);
      INFO(name(curve.shape) << ", bucket " << at);
      REQUIRE((found && without));
      CHECK(std::abs(found->curve.at(4000) - without->curve.at(4000)) < 0.005 * without->fall);
    }
  }
}

TEST_CASE("a floor is not below zero while no loss is, and may be where one is") {
  const loss_curve to_minus_one{family::exponential_floor, {3, 3e-3, -1}};
  const auto below = fit(family::exponential_floor, seen(to_minus_one, 1000).buckets());
  REQUIRE(below);
  CHECK(below->curve.p[2] == Approx(-1).epsilon(1e-3));
  CHECK_FALSE(fit(family::exponential, seen(to_minus_one, 1000).buckets()));

  const loss_curve straight{family::exponential_floor, {3, 3e-3, -0.2}};  // not yet below zero after 600 steps
  const auto bounded = fit(family::exponential_floor, seen(straight, 600).buckets());
  REQUIRE(bounded);
  CHECK(bounded->curve.p[2] == 0);
}

TEST_CASE("nothing comes of what no curve can be fitted to") {
  const family families[] = {family::exponential, family::exponential_floor, family::inverse_linear,
                             family::inverse_quadratic, family::power_law};
  for (const auto shape : families) {
    CHECK_FALSE(fit(shape, {}));
    CHECK_FALSE(fit(shape, seen({shape, {shape == family::exponential ? -0.1 : 2, 0.1, 0.1}}, 7).buckets()));
    CHECK(fit(family::exponential, seen({family::exponential, {-0.1, 0}}, 8).buckets()));
    const auto two = seen({family::exponential, {-0.1, 0}}, 2);
    CHECK_FALSE(fit(shape, two.buckets()));
    for (const double constant : {0.0, 1.0, -1.0, 1e30, 1e-30, 1e-310}) {
      loss_window window;
      for (int i = 0; i < 1000; ++i) window.observe(i, constant);
      CHECK_FALSE(fit(shape, window.buckets()));
    }
    loss_window rising, one_step;
    for (int i = 0; i < 1000; ++i) rising.observe(i, 1 + i), one_step.observe(5, 1000 - i);
    const auto risen = fit(shape, rising.buckets());
    CHECK((!risen || !risen->converged || risen->gain < 1));
    CHECK_FALSE(fit(shape, one_step.buckets()));
  }
}

TEST_CASE("no number is anything but finite, whatever the buckets") {
  std::mt19937_64 random(9);
  const auto any = [&] {
    return std::ldexp(static_cast<double>(random() % 2000) - 500, static_cast<int>(random() % 400) - 200);
  };
  for (int i = 0; i < 2000; ++i) {
    std::vector<loss_bucket> buckets;
    double last = 0;
    const bool is_wild = i % 2 == 0;
    for (std::size_t k = 0; k < 8 + random() % 50; ++k) {
      last += is_wild ? std::abs(any()) : 1;
      buckets.push_back({1, last, last, is_wild ? any() : static_cast<double>(random() % 5), std::abs(any())});
    }
    for (const auto shape : {family::exponential, family::exponential_floor, family::inverse_linear,
                             family::inverse_quadratic, family::power_law}) {
      const auto found = fit(shape, buckets);
      if (!found) continue;
      for (const double v : found->curve.p) CHECK(std::isfinite(v));
      for (const double v : {found->scale, found->criterion, found->gain, found->fall, found->error_at_twice})
        CHECK(std::isfinite(v));
    }
  }
}

TEST_CASE("a solution of a positive definite system solves it, at any scale of its parameters") {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 200; ++i) {
    matrix factor{}, m{};
    vector scale{}, x{}, b{};
    for (std::size_t r = 0; r < 4; ++r) {
      scale[r] = std::pow(10.0, 3 * normal(random));
      x[r] = normal(random) / scale[r];
      for (auto& each : factor[r]) each = normal(random);
      factor[r][r] += 5;
    }
    for (std::size_t r = 0; r < 4; ++r)
      for (std::size_t c = 0; c < 4; ++c)
        for (std::size_t k = 0; k < 4; ++k) m[r][c] += factor[r][k] * factor[c][k] * scale[r] * scale[c];
    for (std::size_t r = 0; r < 4; ++r)
      for (std::size_t c = 0; c < 4; ++c) b[r] += m[r][c] * x[c];
    for (std::size_t r = 0; r < 4; ++r)
      for (std::size_t c = r + 1; c < 4; ++c) m[r][c] = std::nan("");  // not used
    const auto solved = solve(m, b);
    for (std::size_t r = 0; r < 4; ++r) CHECK(solved[r] * scale[r] == Approx(x[r] * scale[r]).margin(1e-7));
  }
}

TEST_CASE("a singular system has a solution by its ridge; one that is not positive definite has none") {
  matrix ones{};
  for (auto& row : ones) row.fill(1);
  for (const double each : solve(ones, {4, 4, 4, 4})) CHECK(each == Approx(1).epsilon(1e-3));
  ones[1][0] = 2;
  CHECK(std::isnan(solve(ones, {1, 1, 1, 1})[0]));
  ones[1][0] = 1;
  ones[3][3] = -1;
  CHECK(std::isnan(solve(ones, {1, 1, 1, 1})[0]));
}
