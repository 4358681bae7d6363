// SPDX-License-Identifier: MIT
// When to make the last save before a job's time limit: from the times of steps and saves, and the time that is left.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "cairn/core/float_bits.hpp"

namespace cairn::inline v0_1::schedule {

/// Mean and standard deviation of a quantity that may change slowly. Each of the first 64 values has the same weight;
/// then each new value has 1/64. The variance is that of the values, plus (mean / 2)^2 for one value, which falls to
/// (mean / 4)^2 for four or more. O(1) per value.
class running_spread {
 public:
  /// Negative values and values that are not finite are ignored.
  void add(double value) noexcept {
    if (!(value >= 0) || !cairn::detail::is_finite(value)) return;
    count_ = (std::min)(count_ + 1, most_counted);
    const double share = 1 / count_, change = value - mean_;
    mean_ += share * change;
    variance_ = (1 - share) * (variance_ + share * change * change);
  }
  /// Whether no value was added.
  [[nodiscard]] bool is_empty() const noexcept { return count_ == 0; }
  /// 0 if there is no value.
  [[nodiscard]] double mean() const noexcept { return mean_; }
  /// 0 if there is no value.
  [[nodiscard]] double variance() const noexcept {
    return is_empty() ? 0 : variance_ + mean_ * mean_ / (4 * (std::min)(count_, 4.0));
  }

 private:
  static constexpr double most_counted = 64;

  double count_ = 0, mean_ = 0, variance_ = 0;
};

/// What is best after a step of a job that ends at a known time.
enum class before_end : std::uint8_t {
  train,    ///< go on
  measure,  ///< save once and go on: half of the time is over, and no save has been measured
  stop      ///< save the state, and end the run
};

/// The end of a reservation of fixed length, by the dynamic strategy of Barbut, Benoit, Herault, Robert and Vivien
/// ("When to checkpoint at the end of a fixed-length reservation?", FTXS 2023): after each step, the work that is
/// expected to be saved by a save now is compared with that by a save after one more step. Let W be the seconds of work
/// since the newest checkpoint, L the seconds left, X those of a step and C those of a save. A save now is best if
///
///     W P(C <= L)  >=  E[(W + X); X + C <= L].
///
/// X and C are taken to be independent and normal, with the means and deviations of the measured ones. Where L is below
/// the mean of C, in the lower tail of the laws, a save is best at once.
///
/// Until a save is measured, the paper's uniform law on [0, L] holds for C: a save is then best when half the time is
/// left. That one only measures; the last one begins when a quarter is left. Times are in seconds, each function O(1).
class reservation {
 public:
  /// A step has taken this long, without the stalls of saves.
  void stepped(double seconds) noexcept { step_.add(seconds); }
  /// A save has taken this long, from the call to publication.
  void saved(double seconds) noexcept { save_.add(seconds); }

  /// `left`: until the job ends. `unsaved`: work since the newest checkpoint. `delay`: steps from decision to save.
  [[nodiscard]] before_end advise(double left, double unsaved, double delay = 0) noexcept {
    whole_ = (std::max)(whole_, left);
    left -= delay * step_.mean();
    if (!(left > 0)) return before_end::stop;
    if (save_.is_empty()) {
      if (left <= whole_ / 4) return before_end::stop;
      return left <= whole_ / 2 ? before_end::measure : before_end::train;
    }
    if (step_.is_empty()) return before_end::train;
    if (left <= save_.mean()) return before_end::stop;
    const double work = (std::max)(unsaved, 0.0) + delay * step_.mean();
    return saved_now(left, work) >= saved_after_step(left, work) ? before_end::stop : before_end::train;
  }

  /// W P(C <= L): the expected seconds of work that a save now saves.
  [[nodiscard]] double saved_now(double left, double unsaved) const noexcept {
    return unsaved * below((left - save_.mean()) / deviation(save_.variance()));
  }
  /// E[(W + X); X + C <= L] = (W + mean X) P(X + C <= L) - (var X / s) phi(d), where s is the deviation of X + C, and d
  /// = (L - mean(X + C)) / s.
  [[nodiscard]] double saved_after_step(double left, double unsaved) const noexcept {
    const double s = deviation(step_.variance() + save_.variance()), d = (left - step_.mean() - save_.mean()) / s;
    const double density = std::exp(-d * d / 2) / std::sqrt(2 * std::numbers::pi);
    return (unsaved + step_.mean()) * below(d) - step_.variance() / s * density;
  }

 private:
  /// The part of a normal distribution below `d` deviations.
  [[nodiscard]] static double below(double d) noexcept { return std::erfc(-d / std::numbers::sqrt2) / 2; }
  /// Above 0: of steps and saves that took no time, too.
  [[nodiscard]] static double deviation(double variance) noexcept { return (std::max)(std::sqrt(variance), 1e-9); }

  running_spread step_, save_;
  double whole_ = 0;  // seconds left at the first call
};

}  // namespace cairn::inline v0_1::schedule
