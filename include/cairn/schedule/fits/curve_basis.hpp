// SPDX-License-Identifier: MIT
// Each family of loss curves as A h(x) + floor, where h has one or two rates: the parameters of a fit.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "cairn/schedule/estimator.hpp"

namespace cairn::inline v0_1::schedule {

/// A family over the steps from `first` to `last`, first < last. h is 1 at `first` and falls; its rates are positive and have no unit.
struct curve_basis {
  using family = loss_curve::family;
  using rates = std::array<double, 2>;

  family shape{};
  double first = 0;
  double last = 1;

  /// Where some steps lie on the x axis. `bend` is half the variance of their x: the mean of h over them is h + h'' bend, to second
  /// order.
  struct position {
    double x = 0;
    double bend = 0;
  };
  /// h, and its slope by the rates' logarithms.
  struct value {
    double h = 0;
    rates slope{};
  };

  [[nodiscard]] constexpr std::size_t rate_count() const noexcept { return shape == family::inverse_quadratic ? 2 : 1; }
  [[nodiscard]] constexpr bool has_floor() const noexcept { return shape != family::exponential; }

  /// Bounds of the rates' logarithms, and of those to try first.
  [[nodiscard]] constexpr rates lowest() const noexcept { return is_power() ? rates{-5, 0} : rates{-7, -9}; }
  [[nodiscard]] constexpr rates highest() const noexcept { return is_power() ? rates{2.5, 0} : rates{9, 12}; }
  [[nodiscard]] constexpr rates first_tried() const noexcept { return is_power() ? rates{-3.5, 0} : rates{-2, -2}; }
  [[nodiscard]] constexpr rates last_tried() const noexcept { return is_power() ? rates{1.5, 0} : rates{7, 7}; }

  /// The position of `count` steps that are spread evenly over `width` around `step`.
  [[nodiscard]] position position_of(double step, double width = 0, double count = 1) const noexcept {
    const double part = width / (is_power() ? step + 1 : last - first);
    return {is_power() ? std::log((step + 1) / (first + 1)) : (step - first) / (last - first),
            part * part * (1 - 1 / (count * count)) / 24};
  }

  /// The mean of h at a position. The slopes ignore the bend.
  [[nodiscard]] value at(const position& where, const rates& rate) const noexcept;

  /// The logarithms of a curve's rates, within their bounds. A rate that is not positive becomes the lowest.
  [[nodiscard]] rates rates_of(const loss_curve& curve) const noexcept;

  /// The curve a h + floor.
  [[nodiscard]] loss_curve curve_of(double a, double floor, const rates& rate) const noexcept;

 private:
  [[nodiscard]] constexpr bool is_power() const noexcept { return shape == family::power_law; }
};

inline curve_basis::value curve_basis::at(const position& where, const rates& rate) const noexcept {
  const auto [x, bend] = where;
  switch (shape) {
    case family::exponential:
    case family::exponential_floor: {
      const double h = std::exp(-rate[0] * x);
      return {h * (1 + rate[0] * rate[0] * bend), {-rate[0] * x * h, 0}};
    }
    case family::power_law: {  // exponential in x; the bend is that of the step
      const double h = std::exp(-rate[0] * x);
      return {h * (1 + rate[0] * (rate[0] + 1) * bend), {-rate[0] * x * h, 0}};
    }
    case family::inverse_linear: {
      const double h = 1 / (1 + rate[0] * x), by = rate[0] * h;
      return {h * (1 + 2 * by * by * bend), {-by * x * h, 0}};
    }
    case family::inverse_quadratic: {
      const double h = 1 / (1 + (rate[0] + rate[1] * x) * x), by = (rate[0] + 2 * rate[1] * x) * h;
      return {h * (1 + 2 * (by * by - rate[1] * h) * bend), {-rate[0] * x * h * h, -rate[1] * x * x * h * h}};
    }
  }
  return {};
}

inline curve_basis::rates curve_basis::rates_of(const loss_curve& curve) const noexcept {
  const auto& p = curve.p;
  const double span = last - first;
  rates rate{0, 0};
  switch (shape) {
    case family::exponential:
      rate[0] = -p[0] * span;
      break;
    case family::exponential_floor:
      rate[0] = p[1] * span;
      break;
    case family::power_law:
      rate[0] = p[1];
      break;
    case family::inverse_linear:
      rate[0] = p[0] * span / (p[0] * first + p[1]);
      break;
    case family::inverse_quadratic: {
      const double at_first = (p[0] * first + p[1]) * first + p[2];
      rate = {(2 * p[0] * first + p[1]) * span / at_first, p[0] * span * span / at_first};
    }
  }
  for (std::size_t k = 0; k < 2; ++k)
    rate[k] = rate[k] > 0 ? std::clamp(std::log(rate[k]), lowest()[k], highest()[k]) : lowest()[k];
  return rate;
}

inline loss_curve curve_basis::curve_of(double a, double floor, const rates& rate) const noexcept {
  const double span = last - first, k = rate[0] / span, k2 = rate[1] / span / span;
  switch (shape) {
    case family::exponential:
      return {shape, {-k, std::log(a) + k * first}};
    case family::exponential_floor:
      return {shape, {a * std::exp(k * first), k, floor}};
    case family::power_law:
      return {shape, {a * std::pow(first + 1, rate[0]), rate[0], floor}};
    case family::inverse_linear:
      return {shape, {k / a, (1 - k * first) / a, floor}};
    case family::inverse_quadratic:
      return {shape, {k2 / a, (k - 2 * k2 * first) / a, (1 - k * first + k2 * first * first) / a, floor}};
  }
  return {};
}

}  // namespace cairn::inline v0_1::schedule
