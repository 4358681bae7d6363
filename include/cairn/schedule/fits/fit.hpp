// SPDX-License-Identifier: MIT
// A window of losses and a family of curves -> the curve that fits best, and how far it can be trusted.
#pragma once

#include <optional>
#include <span>

#include "cairn/schedule/estimator.hpp"
#include "cairn/schedule/fits/loss_window.hpp"

namespace cairn::inline v0_1::schedule {

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

/// Robust weighted least squares of one family to the buckets' means (Huber's weights, iterated). A bucket weighs as its count over the
/// noise seen in it and its neighbours, so that noise may grow with the loss or not. For given rates the curves of all families are
/// A h(x) + floor: A and the floor are solved for exactly and Gauss-Newton goes over the rates (variable projection, Golub and Pereyra
/// 1973), at most 16 steps. A and the rates are positive, so that a curve falls; the floor is not negative unless a bucket's mean is.
/// A bucket is compared with the mean of the curve over its steps, to second order.
/// `start` is a curve of the same family to begin with, near the one to be found; without it, a grid of rates is tried.
/// Nothing: fewer than 8 buckets, a loss that is constant, no finite result, and for the exponential a bucket's mean that is not
/// positive. O(buckets); allocates nothing.
[[nodiscard]] std::optional<loss_fit> fit(loss_curve::family shape, std::span<const loss_bucket> buckets,
                                          const loss_curve* start = nullptr);

}  // namespace cairn::inline v0_1::schedule
