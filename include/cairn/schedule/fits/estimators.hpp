// SPDX-License-Identifier: MIT
// Estimators that fit curves: one family each, or the best of several.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <optional>

#include "cairn/schedule/estimator.hpp"
#include "cairn/schedule/fits/loss_window.hpp"

namespace cairn::inline v0_1::estimators {

/// Fits some families; gives the best fit that can be trusted. All estimators are of this type. `curve` fits again when
/// the observed steps grew by a fifth since the last fit, or went back; else it is O(1). O(1) memory, no allocation.
///
/// "Best" is by BIC (Schwarz 1978): -2 log likelihood + k log n for k parameters and n buckets. A parameter too many,
/// above all a floor, harms a prediction more than one that the losses do not show yet; AICc, which penalises it less,
/// predicted no family better and some worse. Residuals of a fifth of the noise count as none, so of two fits to clean
/// losses the simpler one is better. A fit is not trusted, and without another one `curve` gives nothing, when
///   - there are fewer than 16 buckets, or `fit` gives nothing;
///   - the fit did not converge, or its rate is at a bound;
///   - the loss does not fall significantly: the curve explains it not much better than a constant (F below 16);
///   - the standard error of the curve after twice the observed steps is more than a fifth of the fall so far;
///   - the newest sixth of the buckets is off the curve by over 5 standard errors and over a twentieth of the fall;
///   - the criterion is worse by more than 10 than that of another fitted family;
///   - the newest 16 losses are off the curve by more than three times their mean deviation and a twentieth of the fall
///     (the loss rises, or a new learning rate lets it drop), or the newest 16 were all not finite.
class fitted_curves {
 public:
  /// A family named twice counts once; an empty list means all families.
  explicit fitted_curves(std::initializer_list<loss_curve::family> families);

  /// Adds the loss after `step` steps. About 10 ns.
  void observe(const double& step, const double& loss) noexcept { window_.observe(step, loss); }
  [[nodiscard]] std::optional<loss_curve> curve();
  /// Whether `curve` would fit again.
  [[nodiscard]] bool is_due() const noexcept;

  void remember(policy_memory& memory) const;
  /// Restores the window, and the fits where they are of the same families. Incomplete notes are ignored.
  void recall(const policy_memory& memory);

  /// The losses, reduced to at most 64 buckets.
  [[nodiscard]] const schedule::loss_window& window() const noexcept { return window_; }

 private:
  struct fitted {
    loss_curve curve{};
    bool is_start = false;  // to begin the next fit with
  };

  void refit();

  static constexpr std::size_t most = 5;

  schedule::loss_window window_;
  std::array<fitted, most> fits_{};
  std::size_t size_ = 0;
  std::optional<std::size_t> best_;
  double best_fall_ = 0;
  double fitted_at_ = -1;  // step; none yet
};

/// Fits one family.
template <loss_curve::family Family>
struct fitted_family : fitted_curves {
  fitted_family() : fitted_curves({Family}) {}
};

/// exp(a x + b), falling to zero: COCI. Losses that are not positive have no such curve.
using exponential = fitted_family<loss_curve::family::exponential>;
/// a exp(-b x) + c.
using exponential_floor = fitted_family<loss_curve::family::exponential_floor>;
/// u^(x - b) + c: SLAQ. The same curves as `exponential_floor`, with u = exp(-b) and another name for the factor.
using geometric = exponential_floor;
/// 1 / (a x + b) + c: Optimus.
using inverse_linear = fitted_family<loss_curve::family::inverse_linear>;
/// 1 / (a x^2 + b x + c) + d: SLAQ.
using inverse_quadratic = fitted_family<loss_curve::family::inverse_quadratic>;
/// a (x + 1)^-b + c.
using power_law = fitted_family<loss_curve::family::power_law>;

/// All of them, or those that are named.
struct best_of : fitted_curves {
  best_of(std::initializer_list<loss_curve::family> families = {})
      : fitted_curves(families) {}  // NOLINT: a list is one
};

}  // namespace cairn::inline v0_1::estimators
