// SPDX-License-Identifier: MIT
// COCI's rule: saves at equal drops of the loss.
#pragma once

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "cairn/core/float_bits.hpp"
#include "cairn/schedule/base.hpp"
#include "cairn/schedule/estimator.hpp"
#include "cairn/schedule/interval.hpp"
#include "cairn/schedule/mtbf.hpp"
#include "cairn/schedule/observed_run.hpp"

namespace cairn::inline v0_1::policies {

/// The inputs of COCI's rule, and how often the curve of the loss is fitted.
struct coci_options {
  mtbf_prior mtbf{};                                     ///< of one worker; learned from the run
  std::optional<std::chrono::duration<double>> stall{};  ///< that a save takes from the training; none: measured
  any_estimator estimator;  ///< of the loss, for example estimators::exponential() of schedule/fits/estimators.hpp
  std::uint64_t refit_steps = 50;  ///< between two fits
  double replan_at = 0.05;         ///< relative change of a parameter from which a new fit replaces the old one
  double speedup_power = 1;        ///< x_j = (workers / workers at the fit)^speedup_power; see coci
};

/// Li et al.: Convergence-aware optimal checkpointing for exploratory deep learning training jobs, FGCS 2025.
///
/// Published: the loss after t minutes is fitted by exp(p1 t + p2), with p1 < 0. With failures at a rate f per minute
/// and a stall of S minutes, a checkpoint is made each time that the loss has fallen by P = (1 - exp(p1 S)) (1 / (2 f)
/// - 1 / (2 p1)). When the number of workers changes to w_j, and the loss then falls x_j times as fast as at the fit,
/// it is P_j = (1 - exp(x_j p1 w_j S)) (1 / (2 f) - 1 / (2 x_j p1)), which is the same for one worker now and at the
/// fit. The curve is fitted again every n iterations, and a new target is set when a parameter has moved. The rule
/// mixes units: it depends on t being in minutes.
///
/// Here: the loss is normalised to 1 on the curve at the first step whose loss was seen. f is the rate of the job, the
/// sum over its workers. p1 per minute comes from the curve over steps and the mean iteration time; for a curve that is
/// not exponential, from its relative slope at the newest checkpoint. A step counts as x_j steps of the curve. The next
/// target is the curve's loss at the newest checkpoint minus P. Where the curve has less than P left to fall, and where
/// the estimator gives no curve or one that does not fall, Daly's interval decides. A loss that is absent, NaN or
/// infinite is not fitted. No interval is longer than `longest_interval`. O(1) per step, and what the estimator takes.
class coci {
 public:
  explicit coci(coci_options options) : options_(std::move(options)), run_(options_.mtbf, options_.stall) {}

  [[nodiscard]] bool should_save(const moment& now) {
    run_.observe(now);
    if (now.loss && cairn::detail::is_finite(*now.loss)) {
      if (!first_) first_ = static_cast<double>(now.step);
      options_.estimator.observe(static_cast<double>(now.step), *now.loss);
    }
    follow(now);
    const auto cost = run_.save_seconds();
    if (!cost) return run_.is_probe_due();
    if (is_stale_) set_target(*cost);
    if (!target_) return run_.is_due(daly_);
    return run_.may_save() &&
           (run_.is_late() || curve_->at(position_ + speed_ / 2) <= *target_);  // to the nearer end of an iteration
  }
  void saved(const save_cost& cost) {
    run_.saved(cost);
    is_stale_ = true;
  }
  void restarted(const restart& how) {
    run_.restarted(how);
    is_stale_ = true;
  }
  [[nodiscard]] policy_memory remember() const {
    policy_memory memory;
    run_.remember(memory);
    options_.estimator.remember(memory);
    if (first_) memory["first_loss"] = {*first_};
    return memory;
  }
  void recall(const policy_memory& memory) {
    run_.recall(memory);
    options_.estimator.recall(memory);
    const auto kept = cairn::detail::recalled(memory, "first_loss", 1);
    if (!kept.empty() && kept[0] >= 0) first_ = kept[0];
  }

 private:
  /// Advances on the curve; notices what makes the target stale: a checkpoint, another number of workers, a new fit.
  void follow(const moment& now) {
    const auto step = static_cast<double>(now.step), saved_step = static_cast<double>(now.saved_step);
    if (workers_ != run_.workers() || saved_step_ != saved_step) is_stale_ = true;
    position_ += speed_ * (step - step_);
    if (workers_ != run_.workers()) speed_ = speed_of(run_.workers());
    if (saved_step_ != saved_step) saved_position_ = position_ - speed_ * (step - saved_step);
    workers_ = run_.workers();
    step_ = step;
    saved_step_ = saved_step;
    if (!(step >= refit_at_ || step < refitted_at_)) return;
    refitted_at_ = step;
    refit_at_ = step + static_cast<double>(options_.refit_steps);
    is_stale_ = true;
    const auto fitted = options_.estimator.curve();
    if (!fitted) return curve_.reset();
    if (curve_ && !has_moved(*fitted)) return;
    curve_ = fitted;
    fit_workers_ = workers_;
    speed_ = 1;
    position_ = step;
    saved_position_ = saved_step;
  }

  [[nodiscard]] double speed_of(double workers) const noexcept {
    const double speed = std::pow(workers / fit_workers_, options_.speedup_power);
    return speed > 0 && cairn::detail::is_finite(speed) ? speed : 1;
  }

  [[nodiscard]] bool has_moved(const loss_curve& fitted) const noexcept {
    if (fitted.shape != curve_->shape) return true;
    for (std::size_t i = 0; i < fitted.p.size(); ++i)
      if (!(std::abs(fitted.p[i] - curve_->p[i]) <= options_.replan_at * std::abs(curve_->p[i]))) return true;
    return false;
  }

  void set_target(double cost) noexcept {
    is_stale_ = false;
    daly_ = schedule::daly_interval(cost, run_.mtbf());
    target_.reset();
    const double iteration = run_.iterations().seconds();
    if (!curve_ || !(iteration > 0)) return;
    const double level = curve_->at(saved_position_), unit = curve_->at(first_.value_or(0)), end = curve_->at(1e18);
    const double slope = curve_->slope(saved_position_);
    if (!(level > 0 && unit > 0 && slope < 0)) return;
    const double rate = speed_ * slope / level * (60 / iteration);  // x_j p1, per minute
    if (!(rate < 0)) return;
    const double stall = cost / 60, between = run_.mtbf() / 60;
    const double drop = -std::expm1(rate * run_.workers() * stall) * (between / 2 - 1 / (2 * rate));
    if (level - drop * unit > end) target_ = level - drop * unit;
  }

  coci_options options_;
  schedule::observed_run run_;
  std::optional<double> first_;  // step whose loss was seen
  std::optional<loss_curve> curve_;
  std::optional<double> target_;  // loss on the curve at which to save
  double daly_ = 0;               // seconds, where there is no target
  bool is_stale_ = true;
  double workers_ = 1, fit_workers_ = 1, speed_ = 1;
  double step_ = 0, saved_step_ = 0, refit_at_ = 0, refitted_at_ = 0;
  double position_ = 0, saved_position_ = 0;  // in steps of the curve
};

}  // namespace cairn::inline v0_1::policies
