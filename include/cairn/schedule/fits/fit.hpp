// SPDX-License-Identifier: MIT
// A window of losses and a family of curves -> the curve that fits best, and how far it can be trusted.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>

#include "cairn/core/float_bits.hpp"
#include "cairn/schedule/estimator.hpp"
#include "cairn/schedule/fits/loss_window.hpp"

namespace cairn::inline v0_1::schedule::detail {

using vector = std::array<double, 4>;
/// Symmetric; only the lower triangle, row by row, is used.
using matrix = std::array<vector, 4>;

/// x with m x = b, by Cholesky's factors of m scaled to a diagonal of ones. NaN where m is not positive definite.
[[nodiscard]] inline vector solve(const matrix& m, const vector& b) {
  constexpr std::size_t n = 4;
  constexpr double ridge = 1e-11;  // for parameters that are nearly dependent
  vector none, unit, x;
  none.fill(std::bit_cast<double>(cairn::detail::quiet_nan_bits));
  for (std::size_t i = 0; i < n; ++i) {
    unit[i] = 1 / std::sqrt(m[i][i]);
    if (!cairn::detail::is_finite(unit[i])) return none;
  }
  matrix factor{};
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t c = 0; c <= r; ++c) {
      double rest = r == c ? 1 + ridge : unit[r] * m[r][c] * unit[c];
      for (std::size_t k = 0; k < c; ++k) rest -= factor[r][k] * factor[c][k];
      if (r == c && !(cairn::detail::is_finite(rest) && rest > 0)) return none;
      factor[r][c] = r == c ? std::sqrt(rest) : rest / factor[c][c];
    }
    x[r] = unit[r] * b[r];
    for (std::size_t k = 0; k < r; ++k) x[r] -= factor[r][k] * x[k];
    x[r] /= factor[r][r];
  }
  for (std::size_t r = n; r-- > 0;) {
    for (std::size_t k = r + 1; k < n; ++k) x[r] -= factor[k][r] * x[k];
    x[r] /= factor[r][r];
  }
  for (std::size_t i = 0; i < n; ++i) x[i] *= unit[i];
  return x;
}

}  // namespace cairn::inline v0_1::schedule::detail

namespace cairn::inline v0_1::schedule {

/// A family over the steps from `first` to `last`, first < last. h is 1 at `first` and falls; its rates are positive
/// and have no unit.
struct curve_basis {
  using family = loss_curve::family;
  using rates = std::array<double, 2>;

  family shape{};
  double first = 0;
  double last = 1;

  /// Where some steps lie on the x axis. `bend` is half the variance of their x: the mean of h over them is h + h''
  /// bend, to second order.
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

/// A fitted curve and its quality, in the unit of the losses.
struct loss_fit {
  loss_curve curve{};
  double scale = 0;      ///< of the residuals, robust; 1: as large as the noise within the buckets predicts
  double criterion = 0;  ///< BIC with a robust likelihood; of fits to the same buckets, the smaller one is better
  /// F: by how much it explains the losses better than a constant does, per parameter, against its residuals.
  double gain = 0;
  double fall = 0;            ///< from the first step to the newest one, on the curve
  double error_at_twice = 0;  ///< standard error of the curve after twice the observed steps
  double recent = 0;  ///< mean residual of the newest sixth of the buckets; positive: the losses are above the curve
  double recent_error = 0;  ///< standard error of that
  bool converged = false;   ///< within the iterations, at a curve that falls, with its rate within bounds
};

/// Robust weighted least squares of one family to the buckets' means (Huber's weights, iterated). A bucket weighs as
/// its count over the noise seen in it and its neighbours, so that noise may grow with the loss or not. For given rates
/// the curves of all families are A h(x) + floor: A and the floor are solved for exactly and Gauss-Newton goes over the
/// rates (variable projection, Golub and Pereyra 1973), at most 16 steps. A and the rates are positive, so that a curve
/// falls; the floor is not negative unless a bucket's mean is. A bucket is compared with the mean of the curve over its
/// steps, to second order. `start` is a curve of the same family to begin with, near the one to be found; without it, a
/// grid of rates is tried. Nothing: fewer than 8 buckets, a loss that is constant, no finite result, and for the
/// exponential a bucket's mean that is not positive. O(buckets); allocates nothing.
[[nodiscard]] std::optional<loss_fit> fit(loss_curve::family shape, std::span<const loss_bucket> buckets,
                                          const loss_curve* start = nullptr);

}  // namespace cairn::inline v0_1::schedule
