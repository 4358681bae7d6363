// SPDX-License-Identifier: MIT
// Definitions of estimators.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "cairn/schedule/fits/estimators.hpp"
#include "cairn/schedule/fits/fit.hpp"

namespace cairn::inline v0_1::estimators {
namespace detail {

inline constexpr std::size_t least_buckets = 16;
inline constexpr double growth = 1.2;  // of the steps observed, between fits
inline constexpr double in_a_row = 16;

inline constexpr std::array all_families{loss_curve::family::exponential, loss_curve::family::exponential_floor,
                                         loss_curve::family::inverse_linear, loss_curve::family::inverse_quadratic,
                                         loss_curve::family::power_law};

[[nodiscard]] inline bool is_trusted(const schedule::loss_fit& fit) noexcept {
  return fit.converged && fit.gain > 16 && fit.error_at_twice < fit.fall / 5 &&
         std::abs(fit.recent) < std::max(5 * fit.recent_error, fit.fall / 20);
}

}  // namespace detail

fitted_curves::fitted_curves(std::initializer_list<loss_curve::family> families) {
  for (const auto shape : detail::all_families) {
    const bool is_named = std::ranges::find(families, shape) != families.end();
    if (is_named || families.size() == 0) fits_[size_++].curve.shape = shape;
  }
}

bool fitted_curves::is_due() const noexcept {
  const double last = window_.last_step(), first = window_.first_step();
  if (window_.buckets().size() < detail::least_buckets) return false;
  return fitted_at_ < 0 || last < fitted_at_ || last - first >= detail::growth * (fitted_at_ - first);
}

void fitted_curves::refit() {
  std::array<std::optional<schedule::loss_fit>, most> fits;
  double least = 0;
  bool is_first = true;
  for (std::size_t i = 0; i < size_; ++i) {
    fits[i] = schedule::fit(fits_[i].curve.shape, window_.buckets(), fits_[i].is_start ? &fits_[i].curve : nullptr);
    fits_[i].is_start = fits[i] && fits[i]->converged;
    if (!fits[i]) continue;
    fits_[i].curve = fits[i]->curve;
    least = is_first ? fits[i]->criterion : std::min(least, fits[i]->criterion);
    is_first = false;
  }
  best_.reset();
  for (std::size_t i = 0; i < size_; ++i) {
    if (!fits[i] || !detail::is_trusted(*fits[i]) || fits[i]->criterion > least + 10) continue;
    if (!best_ || fits[i]->criterion < fits[*best_]->criterion) best_ = i;
  }
  if (best_) best_fall_ = fits[*best_]->fall;
  fitted_at_ = window_.last_step();
}

std::optional<loss_curve> fitted_curves::curve() {
  if (window_.buckets().size() < detail::least_buckets) return std::nullopt;
  if (is_due()) refit();
  if (!best_ || window_.passed_over() >= detail::in_a_row) return std::nullopt;
  const loss_curve& best = fits_[*best_].curve;
  const double off = std::abs(window_.level() - best.at(window_.last_step()));
  if (off > 3 * window_.spread() && off > best_fall_ / 20) return std::nullopt;
  return best;
}

void fitted_curves::remember(policy_memory& memory) const {
  window_.remember(memory);
  std::vector<double> values{fitted_at_, best_ ? static_cast<double>(*best_) : -1, best_fall_};
  for (std::size_t i = 0; i < size_; ++i) {
    const auto& [curve, is_start] = fits_[i];
    values.push_back(static_cast<double>(curve.shape));
    values.push_back(is_start ? 1 : 0);
    values.insert(values.end(), curve.p.begin(), curve.p.end());
  }
  memory["loss_fits"] = std::move(values);
}

void fitted_curves::recall(const policy_memory& memory) {
  if (!window_.recall(memory)) return;
  fitted_at_ = -1;
  best_.reset();
  for (auto& one : fits_) one.is_start = false;

  const auto values = cairn::detail::recalled(memory, "loss_fits", 3 + 6 * size_);
  if (values.empty()) return;
  auto read = fits_;
  for (std::size_t i = 0; i < size_; ++i) {
    const double* from = values.data() + 3 + 6 * i;
    if (from[0] != static_cast<double>(read[i].curve.shape)) return;
    read[i].is_start = from[1] == 1;
    std::copy(from + 2, from + 6, read[i].curve.p.begin());
  }
  fits_ = read;
  fitted_at_ = values[0];
  for (std::size_t i = 0; i < size_; ++i)
    if (values[1] == static_cast<double>(i)) best_ = i;
  best_fall_ = values[2];
}

}  // namespace cairn::inline v0_1::estimators
