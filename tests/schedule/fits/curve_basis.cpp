// SPDX-License-Identifier: MIT
#include "cairn/schedule/fits/fit.hpp"

#include "catch.hpp"

namespace {

using cairn::loss_curve;
using cairn::schedule::curve_basis;
using family = loss_curve::family;

constexpr family families[] = {family::exponential, family::exponential_floor, family::inverse_linear,
                               family::inverse_quadratic, family::power_law};

double uniform(std::mt19937_64& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

curve_basis random_basis(family shape, std::mt19937_64& random) {
  const double first = uniform(random, 0, 100);
  return {shape, first, first + uniform(random, 10, 10000)};
}

curve_basis::rates random_rates(const curve_basis& basis, std::mt19937_64& random) {
  const auto low = basis.first_tried(), high = basis.last_tried();
  return {std::exp(uniform(random, low[0], high[0] - 2)), std::exp(uniform(random, low[1], high[1]))};
}

}  // namespace

TEST_CASE("a curve is A h + floor at every step") {
  std::mt19937_64 random(1);
  for (const auto shape : families)
    for (int i = 0; i < 200; ++i) {
      const auto basis = random_basis(shape, random);
      const auto rate = random_rates(basis, random);
      const double a = uniform(random, 0.1, 10), floor = basis.has_floor() ? uniform(random, -1, 3) : 0;
      const auto curve = basis.curve_of(a, floor, rate);
      CHECK(curve.shape == shape);
      for (int k = 0; k < 5; ++k) {
        const double step = uniform(random, basis.first, 2 * basis.last);
        const double h = basis.at(basis.position_of(step), rate).h;
        CHECK(curve.at(step) == Approx(a * h + floor).epsilon(1e-9).margin(1e-9));
      }
      CHECK(basis.at(basis.position_of(basis.first), rate).h == Approx(1));
    }
}

TEST_CASE("a curve gives back its rates, seen from other steps too") {
  std::mt19937_64 random(2);
  for (const auto shape : families)
    for (int i = 0; i < 200; ++i) {
      const auto basis = random_basis(shape, random);
      const auto rate = random_rates(basis, random);
      const auto again = basis.rates_of(basis.curve_of(2, basis.has_floor() ? 1 : 0, rate));
      for (std::size_t k = 0; k < basis.rate_count(); ++k) CHECK(again[k] == Approx(std::log(rate[k])).margin(1e-6));
    }
}

TEST_CASE("what is no rate becomes the lowest one") {
  for (const auto shape : families) {
    const curve_basis basis{shape, 0, 100};
    const loss_curve rising{shape, {shape == family::exponential ? 1.0 : -1.0, -1, -1, -1}};
    const loss_curve nothing{shape, {}};
    for (const auto& curve : {rising, nothing}) {
      const auto rates = basis.rates_of(curve);
      for (std::size_t k = 0; k < basis.rate_count(); ++k) {
        CHECK(rates[k] >= basis.lowest()[k]);
        CHECK(rates[k] <= basis.highest()[k]);
      }
    }
    CHECK(basis.rates_of(nothing)[0] == basis.lowest()[0]);
  }
}

TEST_CASE("slopes are those of h by the rates' logarithms") {
  std::mt19937_64 random(3);
  for (const auto shape : families)
    for (int i = 0; i < 200; ++i) {
      const auto basis = random_basis(shape, random);
      const auto rate = random_rates(basis, random);
      const auto where = basis.position_of(uniform(random, basis.first, basis.last));
      for (std::size_t k = 0; k < basis.rate_count(); ++k) {
        auto more = rate, less = rate;
        more[k] *= std::exp(1e-5);
        less[k] *= std::exp(-1e-5);
        const double slope = (basis.at(where, more).h - basis.at(where, less).h) / 2e-5;
        CHECK(basis.at(where, rate).slope[k] == Approx(slope).epsilon(1e-4).margin(1e-8));
      }
    }
}

TEST_CASE("the bend gives the mean of h over many steps") {
  std::mt19937_64 random(4);
  for (const auto shape : families)
    for (int i = 0; i < 50; ++i) {
      const curve_basis basis{shape, 0, 1000};
      const auto rate = random_rates({shape, 0, 1000}, random);
      const int begin = 200 + static_cast<int>(random() % 600), steps = 1 + static_cast<int>(random() % 100);
      double mean = 0;
      for (int k = 0; k < steps; ++k) mean += basis.at(basis.position_of(begin + k), rate).h / steps;
      const double middle = begin + (steps - 1) / 2.0;
      const double with = basis.at(basis.position_of(middle, steps, steps), rate).h;
      const double without = basis.at(basis.position_of(middle), rate).h;
      CHECK(std::abs(with - mean) <= 0.1 * std::abs(without - mean) + 1e-3 * mean + 1e-6);
    }
}
