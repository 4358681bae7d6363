// How a curve is fitted to buckets of losses: variable projection, Gauss-Newton, Huber's weights.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>

#include <Eigen/Cholesky>

#include "cairn/schedule/fit.hpp"

namespace cairn::schedule {
namespace detail {

/// A h(x) + floor, with the logarithms of one or two rates behind h. The order of the normal equations: A, floor, rates.
class curve_fitting {
 public:
  curve_fitting(loss_curve::family shape, std::span<const loss_bucket> buckets)
      : shape_(shape), rate_count_(shape == family::inverse_quadratic ? 2 : 1), size_(buckets.size()) {
    first_ = buckets.front().step();
    span_ = buckets.back().last - first_;
    double low = buckets.front().loss(), high = low;
    for (std::size_t i = 0; i < size_; ++i) {
      x_[i] = place_of(buckets[i].step(), i == 0 ? 0 : buckets[i].last - buckets[i - 1].last, buckets[i].count);
      y_[i] = buckets[i].loss();
      low = std::min(low, y_[i]);
      high = std::max(high, y_[i]);
    }
    lowest_ = low;
    unit_ = high - low;
    is_constant_ = !(unit_ > 1e-9 * std::max(std::abs(low), std::abs(high))) || !std::isfinite(1 / unit_);
    has_floor_ = shape != family::exponential;
    is_bounded_ = low >= 0;
    if (is_constant_) return;
    for (std::size_t i = 0; i < size_; ++i) y_[i] /= unit_;
    weigh(buckets);
  }

  [[nodiscard]] bool is_possible() const noexcept {
    return !is_constant_ && span_ > 0 && (has_floor_ || lowest_ > 0);
  }

  [[nodiscard]] std::optional<loss_fit> run(const loss_curve* start) {
    weights_ = base_;
    state now = start != nullptr ? evaluate(rates_of(*start)) : from_grid();
    if (!std::isfinite(now.cost)) now = from_grid();
    bool converged = false;
    int steps = 24;
    for (int round = 0; round < 4; ++round) {
      reweigh(now);
      now = evaluate(now.rates);
      const double before = now.cost;
      converged = descend(now, steps);
      if (round > 0 && now.cost > before * (1 - 1e-4)) break;
    }
    return result(now, converged);
  }

 private:
  using family = loss_curve::family;
  using matrix = Eigen::Matrix<double, 4, 4>;
  using vector = Eigen::Matrix<double, 4, 1>;
  using per_bucket = std::array<double, loss_window::capacity>;
  using pair = std::array<double, 2>;

  struct state {
    pair rates{};
    double a = 0, floor = 0;
    double cost = std::numeric_limits<double>::infinity();
    bool on_floor = false;  // the floor is at its bound
    per_bucket h, residual;
    std::array<per_bucket, 2> slope;  // of h by the rates' logarithms
  };
  struct shape_at {
    double h;
    pair slope;
  };
  /// Where a bucket lies. `bend` is half the variance of its steps: the mean of a curve h over them is h + h'' bend.
  struct place {
    double x = 0, bend = 0;
  };

  /// Of `count` steps, evenly over `width`. A power law is one in the logarithm of the step.
  [[nodiscard]] place place_of(double step, double width, double count) const noexcept {
    const bool is_power = shape_ == family::power_law;
    const double part = width / (is_power ? step + 1 : span_);
    return {is_power ? std::log((step + 1) / (first_ + 1)) : (step - first_) / span_,
            part * part * (1 - 1 / (count * count)) / 24};
  }
  [[nodiscard]] pair lowest() const noexcept { return shape_ == family::power_law ? pair{-5, 0} : pair{-7, -9}; }
  [[nodiscard]] pair highest() const noexcept { return shape_ == family::power_law ? pair{2.5, 0} : pair{9, 12}; }

  /// The noise of a bucket's mean from the scatter in it and its neighbours; at least what its width can hide and rounding does.
  void weigh(std::span<const loss_bucket> buckets) noexcept {
    constexpr std::size_t beside = 4;
    double sum = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      const std::size_t from = i > beside ? i - beside : 0, to = std::min(i + beside + 1, size_);
      double scatter = 0, count = 0;
      for (std::size_t k = from; k < to; ++k) {
        scatter += buckets[k].scatter_sum / unit_ / unit_;
        count += buckets[k].count;
      }
      const double hidden = 0.005 * (y_[i > 0 ? i - 1 : 0] - y_[std::min(i + 1, size_ - 1)]);
      const double variance = scatter / count / buckets[i].count + hidden * hidden + 1e-14;
      base_[i] = 1 / variance;
      sum += base_[i];
    }
    if (!(sum > 0) || !std::isfinite(sum)) is_constant_ = true;
  }

  /// The mean of h over a bucket; its slope by the rates' logarithms, without what the bend changes in it.
  [[nodiscard]] shape_at at(const place& where, const pair& rate) const noexcept {
    const auto [x, bend] = where;
    switch (shape_) {
      case family::exponential:
      case family::exponential_floor: {
        const double h = std::exp(-rate[0] * x);
        return {h * (1 + rate[0] * rate[0] * bend), {-rate[0] * x * h, 0}};
      }
      case family::power_law: {
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

  /// The best A and floor at given rates, and what they leave.
  [[nodiscard]] state evaluate(const pair& q) const noexcept {
    state s;
    s.rates = q;
    const pair rate{std::exp(q[0]), std::exp(q[1])};
    double w = 0, wh = 0, wy = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      const auto [h, slope] = at(x_[i], rate);
      s.h[i] = h;
      s.slope[0][i] = slope[0];
      s.slope[1][i] = slope[1];
      w += weights_[i];
      wh += weights_[i] * h;
      wy += weights_[i] * y_[i];
    }
    const double h_mean = has_floor_ ? wh / w : 0, y_mean = has_floor_ ? wy / w : 0;
    double hh = 0, hy = 0, whh = 0, why = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      const double wh_i = weights_[i] * (s.h[i] - h_mean);
      hh += wh_i * (s.h[i] - h_mean);
      hy += wh_i * (y_[i] - y_mean);
      whh += weights_[i] * s.h[i] * s.h[i];
      why += weights_[i] * s.h[i] * y_[i];
    }
    s.a = hh > 0 ? std::max(hy / hh, 0.0) : 0;
    s.floor = has_floor_ ? y_mean - s.a * h_mean : 0;
    if (has_floor_ && is_bounded_ && s.floor < 0) {
      s.a = whh > 0 ? std::max(why / whh, 0.0) : 0;
      s.floor = 0;
      s.on_floor = true;
    }
    s.cost = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      s.residual[i] = y_[i] - s.a * s.h[i] - s.floor;
      s.cost += weights_[i] * s.residual[i] * s.residual[i];
    }
    if (!std::isfinite(s.cost)) s.cost = std::numeric_limits<double>::infinity();
    return s;
  }

  /// J^T W J, with ones on the diagonal for what is not a parameter; J^T W r into `right`.
  [[nodiscard]] matrix normal_equations(const state& s, vector& right) const noexcept {
    matrix m = matrix::Zero();
    right.setZero();
    for (std::size_t i = 0; i < size_; ++i) {
      const vector j(s.h[i], 1, s.a * s.slope[0][i], s.a * s.slope[1][i]);
      m.noalias() += weights_[i] * j * j.transpose();
      right.noalias() += weights_[i] * s.residual[i] * j;
    }
    const bool used[] = {true, has_floor_ && !s.on_floor, true, rate_count_ == 2};
    for (int k = 0; k < 4; ++k) {
      if (used[k] && m(k, k) > 0) continue;
      m.row(k).setZero();
      m.col(k).setZero();
      m(k, k) = 1;
      right(k) = 0;
    }
    return m;
  }

  /// Gauss-Newton over the rates, damped where a step does not lead down.
  [[nodiscard]] bool descend(state& now, int& steps) const noexcept {
    double damping = 1e-4;
    for (; steps > 0 && now.a > 0; --steps) {
      vector right;
      matrix m = normal_equations(now, right);
      for (int k = 2; k < 4; ++k) m(k, k) *= 1 + damping;
      const vector step = m.ldlt().solve(right);
      pair next = now.rates;
      double moved = 0;
      for (std::size_t k = 0; k < rate_count_; ++k) {
        const double by = std::clamp(step(static_cast<int>(k) + 2), -1.5, 1.5);
        next[k] = std::clamp(now.rates[k] + by, lowest()[k], highest()[k]);
        moved = std::max(moved, std::abs(next[k] - now.rates[k]));
      }
      if (!(moved > 1e-9)) return std::isfinite(moved);
      const state tried = evaluate(next);
      if (!(tried.cost < now.cost)) {
        if (moved < 1e-5 || tried.cost < now.cost * (1 + 1e-12)) return true;
        damping = std::max(damping * 16, 1e-2);
        continue;
      }
      const bool is_done = tried.cost > now.cost * (1 - 1e-6) && moved < 0.1;
      now = tried;
      if (is_done) return true;
      damping /= 16;
    }
    return false;
  }

  [[nodiscard]] state from_grid() const noexcept {
    state best;
    const double low = shape_ == family::power_law ? -3.5 : -2, high = shape_ == family::power_law ? 1.5 : 7;
    const int across = rate_count_ == 2 ? 6 : 12;
    for (int i = 0; i < across; ++i)
      for (int k = 0; k < (rate_count_ == 2 ? across : 1); ++k) {
        const double along = (high - low) / (across - 1);
        const state tried = evaluate({low + i * along, low + k * along});
        if (tried.cost < best.cost) best = tried;
      }
    return best;
  }

  /// Residuals in units of the noise, robustly scaled by their median.
  [[nodiscard]] double scale_of(const state& s) const noexcept {
    per_bucket size;
    for (std::size_t i = 0; i < size_; ++i) size[i] = std::abs(s.residual[i]) * std::sqrt(base_[i]);
    const auto middle = size.begin() + static_cast<std::ptrdiff_t>(size_ / 2);
    std::nth_element(size.begin(), middle, size.begin() + static_cast<std::ptrdiff_t>(size_));
    return *middle * 1.4826;
  }

  void reweigh(const state& s) noexcept {
    const double bound = 1.345 * std::max(scale_of(s), 1e-6);
    for (std::size_t i = 0; i < size_; ++i) {
      const double size = std::abs(s.residual[i]) * std::sqrt(base_[i]);
      weights_[i] = size > bound ? base_[i] * bound / size : base_[i];
    }
  }

  [[nodiscard]] pair rates_of(const loss_curve& c) const noexcept;
  [[nodiscard]] loss_curve curve_of(const state& s) const noexcept;
  [[nodiscard]] std::optional<loss_fit> result(const state& s, bool converged) const noexcept;

  family shape_;
  std::size_t rate_count_;
  std::size_t size_;
  double first_ = 0, span_ = 0;  // x = 0 and 1 there
  double unit_ = 1, lowest_ = 0;
  bool is_constant_ = false, has_floor_ = true, is_bounded_ = true;
  std::array<place, loss_window::capacity> x_;
  per_bucket y_, base_, weights_;
};

inline curve_fitting::pair curve_fitting::rates_of(const loss_curve& c) const noexcept {
  pair rate{1, 1};
  switch (shape_) {
    case family::exponential:
      rate[0] = -c.p[0] * span_;
      break;
    case family::exponential_floor:
      rate[0] = c.p[1] * span_;
      break;
    case family::power_law:
      rate[0] = c.p[1];
      break;
    case family::inverse_linear:
      rate[0] = c.p[0] * span_ / (c.p[0] * first_ + c.p[1]);
      break;
    case family::inverse_quadratic: {
      const double at_first = (c.p[0] * first_ + c.p[1]) * first_ + c.p[2];
      rate = {(2 * c.p[0] * first_ + c.p[1]) * span_ / at_first, c.p[0] * span_ * span_ / at_first};
    }
  }
  for (std::size_t k = 0; k < 2; ++k)  // what is no rate becomes the least one
    rate[k] = std::clamp(rate[k] > 0 ? std::log(rate[k]) : lowest()[k], lowest()[k], highest()[k]);
  return rate;
}

inline loss_curve curve_fitting::curve_of(const state& s) const noexcept {
  const double a = s.a * unit_, floor = s.floor * unit_, r = std::exp(s.rates[0]), r2 = std::exp(s.rates[1]);
  const double k = r / span_, k2 = r2 / span_ / span_;
  switch (shape_) {
    case family::exponential:
      return {shape_, {-k, std::log(a) + k * first_}};
    case family::exponential_floor:
      return {shape_, {a * std::exp(k * first_), k, floor}};
    case family::power_law:
      return {shape_, {a * std::pow(first_ + 1, r), r, floor}};
    case family::inverse_linear:
      return {shape_, {k / a, (1 - k * first_) / a, floor}};
    case family::inverse_quadratic:
      return {shape_, {k2 / a, (k - 2 * k2 * first_) / a, (1 - k * first_ + k2 * first_ * first_) / a, floor}};
  }
  return {};
}

inline std::optional<loss_fit> curve_fitting::result(const state& s, bool converged) const noexcept {
  if (!(s.a > 0) || !std::isfinite(s.cost)) return std::nullopt;
  loss_fit fit{.curve = curve_of(s)};
  const double n = static_cast<double>(size_);
  const double k = parameter_count(shape_);
  const double last = first_ + span_;

  double w = 0, wy = 0, likelihood = 0, effective = 0;
  for (std::size_t i = 0; i < size_; ++i) {
    w += weights_[i];
    wy += weights_[i] * y_[i];
    effective += weights_[i] / base_[i];
    const double z = std::abs(s.residual[i]) * std::sqrt(base_[i]);
    likelihood += z > 3 ? 6 * z - 9 : z * z;
  }
  double constant = 0;
  for (std::size_t i = 0; i < size_; ++i) constant += weights_[i] * (y_[i] - wy / w) * (y_[i] - wy / w);
  const double variance = s.cost / std::max(effective - k, 1.0);

  fit.scale = scale_of(s);
  fit.criterion = n * std::log(likelihood / n + 0.05) + 2 * k + 2 * k * (k + 1) / std::max(n - k - 1, 1.0);
  fit.gain = (constant - s.cost) / std::max(k - 1, 1.0) / std::max(variance, 1e-12);
  fit.fall = fit.curve.at(first_) - fit.curve.at(last);

  vector unused;
  const matrix m = normal_equations(s, unused);
  const pair rate{std::exp(s.rates[0]), std::exp(s.rates[1])};
  const auto [h, slope] = at(place_of(last + span_, 0, 1), rate);
  const bool has_floor = has_floor_ && !s.on_floor;
  const vector g(h, has_floor ? 1 : 0, s.a * slope[0], s.a * slope[1]);
  fit.error_at_twice = std::sqrt(std::max(variance * g.dot(m.ldlt().solve(g)), 0.0)) * unit_;

  double recent_w = 0;
  for (std::size_t i = size_ - size_ / 6; i < size_; ++i) {
    recent_w += base_[i];
    fit.recent += base_[i] * s.residual[i];
  }
  fit.recent = fit.recent / recent_w * unit_;
  fit.recent_error = unit_ / std::sqrt(recent_w);

  const bool is_at_bound = s.rates[0] >= highest()[0] || (rate_count_ == 1 && s.rates[0] <= lowest()[0]);
  fit.converged = converged && !is_at_bound;
  bool is_finite = std::isfinite(fit.curve.at(last + span_)) && std::isfinite(fit.curve.at(first_));
  for (const double p : fit.curve.p) is_finite = is_finite && std::isfinite(p);
  for (const double v : {fit.scale, fit.criterion, fit.gain, fit.fall, fit.error_at_twice, fit.recent, fit.recent_error})
    is_finite = is_finite && std::isfinite(v);
  if (!is_finite) return std::nullopt;
  return fit;
}

}  // namespace detail

CAIRN_INLINE std::optional<loss_fit> fit(loss_curve::family shape, std::span<const loss_bucket> buckets,
                                         const loss_curve* start) {
  if (buckets.size() < 8 || buckets.size() > loss_window::capacity) return std::nullopt;
  detail::curve_fitting fitting(shape, buckets);
  if (!fitting.is_possible()) return std::nullopt;
  return fitting.run(start);
}

}  // namespace cairn::schedule
