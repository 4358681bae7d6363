// SPDX-License-Identifier: MIT
// Definitions of fit.hpp: variable projection, Gauss-Newton, Huber's weights.
#pragma once

#include <limits>
#include <numeric>

#include <range/v3/numeric/accumulate.hpp>

#include "cairn/schedule/fits/fit.hpp"

namespace cairn::inline v0_1::schedule {
namespace detail {

/// Fits one family to some buckets. Losses are divided by their range.
class curve_fitting {
 public:
  /// From 1 to loss_window::capacity buckets.
  curve_fitting(loss_curve::family shape, std::span<const loss_bucket> buckets) noexcept
      : basis_{shape, buckets.front().step(), buckets.back().last}, size_(buckets.size()) {
    double low = buckets.front().loss(), high = low;
    for (std::size_t i = 0; i < size_; ++i) {
      const double width = i == 0 ? 0 : buckets[i].last - buckets[i - 1].last;
      positions_[i] = basis_.position_of(buckets[i].step(), width, buckets[i].count);
      y_[i] = buckets[i].loss();
      low = std::min(low, y_[i]);
      high = std::max(high, y_[i]);
    }
    unit_ = high - low;
    is_bounded_ = low >= 0;
    const bool is_constant =
        !(unit_ > 1e-9 * std::max(std::abs(low), std::abs(high))) || !cairn::detail::is_finite(1 / unit_);
    if (is_constant || !(basis_.last > basis_.first) || !(basis_.has_floor() || low > 0)) return;
    for (std::size_t i = 0; i < size_; ++i) y_[i] /= unit_;
    is_possible_ = weigh(buckets);
  }

  [[nodiscard]] std::optional<loss_fit> run(const loss_curve* start) noexcept {
    if (!is_possible_) return std::nullopt;
    weights_ = base_;
    state now;
    if (start != nullptr && start->shape == basis_.shape) {
      // Raised to those of the grid: steps from a rate near zero have almost no effect.
      rates from = basis_.rates_of(*start);
      for (std::size_t k = 0; k < 2; ++k) from[k] = std::max(from[k], basis_.first_tried()[k]);
      if (from != basis_.first_tried()) now = evaluate(from);
    }
    if (!is_valid(now)) now = from_grid();
    if (!is_valid(now)) return std::nullopt;
    const bool converged = descend(now);
    return result(now, converged);
  }

 private:
  using per_bucket = std::array<double, loss_window::capacity>;
  using rates = curve_basis::rates;

  static constexpr int most_steps = 16;
  static constexpr double huber = 1.345;  // standard deviations: 95 % of the efficiency of least squares

  struct state {
    rates log_rates{};
    double a = 0, floor = 0;
    double cost = std::numeric_limits<double>::max();  // that of no evaluation
    bool on_floor = false;                             // the floor is at its bound
    per_bucket h, residual;
    std::array<per_bucket, 2> slope;
  };

  /// Are the residuals finite?
  [[nodiscard]] static bool is_valid(const state& s) noexcept {
    return cairn::detail::is_finite(s.cost) && s.cost < std::numeric_limits<double>::max();
  }

  /// The noise of a bucket's mean, from scatter in it and its neighbours; at least rounding and what its width hides.
  [[nodiscard]] bool weigh(std::span<const loss_bucket> buckets) noexcept {
    constexpr std::size_t beside = 4;
    double sum = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      const std::size_t from = i > beside ? i - beside : 0, to = std::min(i + beside + 1, size_);
      const auto near = buckets.subspan(from, to - from);
      const double scatter = ranges::accumulate(near, 0.0, {}, &loss_bucket::scatter_sum);
      const double count = ranges::accumulate(near, 0.0, {}, &loss_bucket::count);
      const double hidden = 0.005 * (y_[i > 0 ? i - 1 : 0] - y_[std::min(i + 1, size_ - 1)]);
      const double variance = scatter / unit_ / unit_ / (count * buckets[i].count) + hidden * hidden + 1e-14;
      base_[i] = 1 / variance;
      root_[i] = std::sqrt(base_[i]);
      sum += base_[i];
    }
    return sum > 0 && cairn::detail::is_finite(sum);
  }

  /// The best A and floor at given rates, and the residuals.
  [[nodiscard]] state evaluate(const rates& log_rates) const noexcept {
    state s;
    s.log_rates = log_rates;
    const rates rate{std::exp(log_rates[0]), std::exp(log_rates[1])};
    double w = 0, wh = 0, wy = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      const auto [h, slope] = basis_.at(positions_[i], rate);
      s.h[i] = h;
      s.slope[0][i] = slope[0];
      s.slope[1][i] = slope[1];
      w += weights_[i];
      wh += weights_[i] * h;
      wy += weights_[i] * y_[i];
    }
    const bool has_floor = basis_.has_floor();
    const double h_mean = has_floor ? wh / w : 0, y_mean = has_floor ? wy / w : 0;
    double hh = 0, hy = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      const double wh_i = weights_[i] * (s.h[i] - h_mean);
      hh += wh_i * (s.h[i] - h_mean);
      hy += wh_i * (y_[i] - y_mean);
    }
    s.a = hh > 0 ? std::max(hy / hh, 0.0) : 0;
    s.floor = has_floor ? y_mean - s.a * h_mean : 0;
    if (has_floor && is_bounded_ && s.floor < 0) {
      s.a = std::max((hy + w * h_mean * y_mean) / (hh + w * h_mean * h_mean), 0.0);
      s.floor = 0;
      s.on_floor = true;
    }
    s.cost = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      s.residual[i] = y_[i] - s.a * s.h[i] - s.floor;
      s.cost += weights_[i] * s.residual[i] * s.residual[i];
    }
    return s;
  }

  /// J^T W J, with ones on the diagonal for unused parameters; J^T W r into `right`. Parameters: A, floor, logarithms
  /// of the rates. Only the lower triangle of the matrix is used.
  [[nodiscard]] matrix normal_equations(const state& s, vector& right) const noexcept {
    matrix m{};
    right = {};
    for (std::size_t i = 0; i < size_; ++i) {
      const vector j{s.h[i], 1, s.a * s.slope[0][i], s.a * s.slope[1][i]};
      for (std::size_t r = 0; r < 4; ++r) {
        const double weighted = weights_[i] * j[r];
        for (std::size_t c = 0; c <= r; ++c) m[r][c] += weighted * j[c];
        right[r] += weighted * s.residual[i];
      }
    }
    const bool used[] = {true, basis_.has_floor() && !s.on_floor, true, basis_.rate_count() == 2};
    for (std::size_t k = 0; k < 4; ++k) {
      if (used[k] && m[k][k] > 0) continue;
      for (std::size_t i = 0; i < 4; ++i) m[std::max(i, k)][std::min(i, k)] = 0;
      m[k][k] = 1;
      right[k] = 0;
    }
    return m;
  }

  /// Gauss-Newton over the rates, damped where a step does not descend. Huber's weights are recomputed at each step.
  [[nodiscard]] bool descend(state& now) noexcept {
    double damping = 1e-4;
    for (int step = 0; step < most_steps; ++step) {
      if (step < 4) scale_ = scale_of(now);
      reweigh(now);
      if (!(now.a > 0)) now = evaluate(now.log_rates);  // outliers may have hidden the fall
      if (!is_valid(now) || !(now.a > 0)) return false;
      vector right;
      matrix m = normal_equations(now, right);
      for (std::size_t k = 2; k < 4; ++k) m[k][k] *= 1 + damping;
      const vector by = solve(m, right);
      rates next = now.log_rates;
      double moved = 0;
      for (std::size_t k = 0; k < basis_.rate_count(); ++k) {
        const double along = by[k + 2];
        if (!cairn::detail::is_finite(along)) return false;
        next[k] = std::clamp(next[k] + std::clamp(along, -1.5, 1.5), basis_.lowest()[k], basis_.highest()[k]);
        moved = std::max(moved, std::abs(next[k] - now.log_rates[k]));
      }
      const state tried = evaluate(next);
      if (!is_valid(tried) || !(tried.cost <= now.cost * (1 + 1e-9))) {
        if (moved < 1e-3) return true;
        damping = std::max(damping * 16, 1e-2);
        continue;
      }
      const double gain = now.cost / tried.cost - 1;
      now = tried;
      if (moved < 1e-4 || (moved < 0.1 && gain < 1e-4) || gain < 1e-7) return true;
      damping /= 16;
    }
    return false;
  }

  [[nodiscard]] state from_grid() const noexcept {
    state best;
    const bool has_two = basis_.rate_count() == 2;
    const int across = has_two ? 6 : 12, second = has_two ? across : 1;
    const rates low = basis_.first_tried(), high = basis_.last_tried();
    const auto share = [&](std::size_t k, int i) { return low[k] + (high[k] - low[k]) * i / (across - 1); };
    for (int i = 0; i < across; ++i)
      for (int k = 0; k < second; ++k) {
        const state tried = evaluate({share(0, i), share(1, k)});
        if (is_valid(tried) && tried.cost < best.cost) best = tried;
      }
    return best;
  }

  /// Residuals in units of the noise, robustly scaled by their median.
  [[nodiscard]] double scale_of(const state& s) const noexcept {
    per_bucket size{};
    for (std::size_t i = 0; i < size_; ++i) size[i] = std::abs(s.residual[i]) * root_[i];
    const auto middle = size.begin() + static_cast<std::ptrdiff_t>(size_ / 2);
    std::nth_element(size.begin(), middle, size.begin() + static_cast<std::ptrdiff_t>(size_));
    return *middle * 1.4826;
  }

  void reweigh(state& s) noexcept {
    const double bound = huber * std::max(scale_, 1e-6);
    s.cost = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      const double size = std::abs(s.residual[i]) * root_[i];
      weights_[i] = size > bound ? base_[i] * bound / size : base_[i];
      s.cost += weights_[i] * s.residual[i] * s.residual[i];
    }
  }

  [[nodiscard]] std::optional<loss_fit> result(const state& s, bool converged) const noexcept;

  curve_basis basis_;
  std::size_t size_;
  bool is_possible_ = false;
  bool is_bounded_ = true;  // the floor is not below zero
  double unit_ = 1;         // of y
  double scale_ = 1;        // of the residuals
  std::array<curve_basis::position, loss_window::capacity> positions_;
  per_bucket y_, base_, root_, weights_;  // base: without Huber's; root: of base
};

inline std::optional<loss_fit> curve_fitting::result(const state& s, bool converged) const noexcept {
  if (!is_valid(s) || !(s.a > 0)) return std::nullopt;
  const rates rate{std::exp(s.log_rates[0]), std::exp(s.log_rates[1])};
  loss_fit fit{.curve = basis_.curve_of(s.a * unit_, s.floor * unit_, rate)};
  const double n = static_cast<double>(size_), k = parameter_count(basis_.shape);
  const double twice = 2 * basis_.last - basis_.first;

  double w = 0, wy = 0, likelihood = 0, effective = 0;
  for (std::size_t i = 0; i < size_; ++i) {
    w += weights_[i];
    wy += weights_[i] * y_[i];
    effective += weights_[i] / base_[i];
    const double z = std::abs(s.residual[i]) * root_[i];
    likelihood += z > 3 ? 6 * z - 9 : z * z;
  }
  double constant = 0;
  for (std::size_t i = 0; i < size_; ++i) constant += weights_[i] * (y_[i] - wy / w) * (y_[i] - wy / w);
  const double variance = s.cost / std::max(effective - k, 1.0);

  fit.scale = scale_of(s);
  fit.criterion = n * std::log(likelihood / n + 0.05) + k * std::log(n);
  fit.gain = (constant - s.cost) / std::max(k - 1, 1.0) / std::max(variance, 1e-12);
  fit.fall = fit.curve.at(basis_.first) - fit.curve.at(basis_.last);

  vector unused;
  const matrix m = normal_equations(s, unused);
  const auto [h, slope] = basis_.at(basis_.position_of(twice), rate);
  const vector g{h, basis_.has_floor() && !s.on_floor ? 1.0 : 0.0, s.a * slope[0], s.a * slope[1]};
  const vector x = solve(m, g);
  fit.error_at_twice =
      std::sqrt(std::max(variance * std::inner_product(g.begin(), g.end(), x.begin(), 0.0), 0.0)) * unit_;

  double recent_w = 0;
  for (std::size_t i = size_ - size_ / 6; i < size_; ++i) {
    recent_w += base_[i];
    fit.recent += base_[i] * s.residual[i];
  }
  fit.recent = fit.recent / recent_w * unit_;
  fit.recent_error = unit_ / std::sqrt(recent_w);

  const bool may_vanish = basis_.rate_count() == 2;  // then the other one is left
  fit.converged =
      converged && s.log_rates[0] < basis_.highest()[0] && (may_vanish || s.log_rates[0] > basis_.lowest()[0]);
  const auto& p = fit.curve.p;
  for (const double& v : {p[0], p[1], p[2], p[3], fit.curve.at(basis_.first), fit.curve.at(twice), fit.scale,
                          fit.criterion, fit.gain, fit.fall, fit.error_at_twice, fit.recent, fit.recent_error})
    if (!cairn::detail::is_finite(v)) return std::nullopt;
  return fit;
}

}  // namespace detail

std::optional<loss_fit> fit(loss_curve::family shape, std::span<const loss_bucket> buckets, const loss_curve* start) {
  if (buckets.size() < 8 || buckets.size() > loss_window::capacity) return std::nullopt;
  return detail::curve_fitting(shape, buckets).run(start);
}

}  // namespace cairn::inline v0_1::schedule
