// SPDX-License-Identifier: MIT
// The mean time between failures, as a run learns it.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <string>

#include "cairn/core/float_bits.hpp"
#include "cairn/schedule/base.hpp"
#include "cairn/schedule/interval.hpp"

namespace cairn::inline v0_1 {

/// What is known in advance of one worker's mean time between failures (MTBF): a normal distribution of its decimal
/// logarithm. The default knows little: from three quarters of an hour to a month, with a probability of two thirds.
struct mtbf_prior {
  /// Median. Infinite: never fails; not positive: 24 hours.
  std::chrono::duration<double> mtbf = std::chrono::hours{24};
  double decades = 1.5;  ///< standard deviation, in powers of ten; not positive: the MTBF is known, nothing is learned
};

/// An MTBF of one worker that is known: nothing is learned.
[[nodiscard]] inline mtbf_prior known_mtbf(std::chrono::duration<double> mtbf) noexcept { return {mtbf, 0}; }

namespace schedule {

/// Learns the rate of failures from the run: Bayes' rule for a Poisson process, on a grid of rates. With a wide prior
/// the expected rate is high while nothing is known, and falls the longer a run lasts without a failure.
class mtbf_estimate {
 public:
  explicit mtbf_estimate(const mtbf_prior& prior = {}) : middle_(prior.mtbf.count()), decades_(prior.decades) {
    if (!cairn::detail::is_positive(middle_)) middle_ = mtbf_prior{}.mtbf.count();
    middle_ = (std::max)(middle_, shortest);
    if (!cairn::detail::is_positive(decades_) || cairn::detail::is_infinite(middle_)) decades_ = 0;
    update();
  }

  /// Adds `seconds` of work of each of `workers`. What is not positive and finite is ignored. Amortised O(1).
  void worked(double seconds, double workers = 1) {
    const double more = seconds * workers;
    if (!(seconds > 0) || !(more > 0) || !cairn::detail::is_finite(more)) return;
    seconds_ += more;
    if (seconds_ > update_at_) update();
  }
  /// Adds a failure. O(1).
  void failed() {
    failures_ += 1;
    update();
  }
  /// A run continues. If it had failed, it had worked since its checkpoint: for the time away, but at most `longest`
  /// seconds. The rest was downtime, for example in the queue of a cluster.
  void restarted(const restart& how, double workers = 1, double longest = longest_interval) {
    if (!how.after_failure) return;
    worked((std::min)(how.away_seconds, longest), workers);
    failed();
  }

  /// The expected failures per second of `workers`; finite, 0 where nothing ever fails.
  [[nodiscard]] double rate(double workers = 1) const noexcept { return workers > 0 ? rate_ * workers : 0; }

  /// Of one worker: 1 / rate. Positive, may be infinite.
  [[nodiscard]] double seconds() const noexcept { return rate_ > 0 ? 1 / rate_ : cairn::detail::infinite(); }

  void remember(policy_memory& memory, const std::string& name = "failures") const {
    memory[name] = {failures_, seconds_};
  }
  void recall(const policy_memory& memory, const std::string& name = "failures") {
    const auto kept = cairn::detail::recalled(memory, name, 2);
    if (kept.empty() || kept[0] < 0 || kept[1] < 0) return;
    failures_ = kept[0];
    seconds_ = kept[1];
    update();
  }

 private:
  static constexpr double shortest = 1e-9;  // seconds: rates are finite
  static constexpr int cells = 96;          // of the grid, on each side of its middle
  static constexpr double reach = 4;        // standard deviations of the prior that the grid covers on each side
  static constexpr double negligible = 40;  // a weight exp(-40) of the greatest one
  static constexpr double growth = 1.05;    // of the time worked, after which the rate is computed again

  void update() {
    update_at_ = seconds_ * growth;
    rate_ = 1 / middle_;
    if (decades_ == 0) return;
    const double log_middle = std::log(middle_), log_ratio = reach / cells * decades_ * std::log(10.0);
    const double ratio = std::exp(log_ratio);
    std::array<double, 2 * cells + 1> log_weight{}, rates{};
    rates[cells] = rate_;
    for (std::size_t i = cells; i > 0; --i) {
      rates[i - 1] = rates[i] * ratio;
      rates[2 * cells + 1 - i] = rates[2 * cells - i] / ratio;
    }
    // The likelihood of n failures in t seconds at rate f is f^n exp(-f t).
    for (std::size_t i = 0; i < rates.size(); ++i) {
      const double steps = static_cast<double>(i) - cells, deviation = reach / cells * steps;
      log_weight[i] = -deviation * deviation / 2 - failures_ * (log_middle + steps * log_ratio) - rates[i] * seconds_;
    }
    const double greatest = *std::max_element(log_weight.begin(), log_weight.end());
    double all = 0, weighted = 0;
    for (std::size_t i = 0; i < rates.size(); ++i) {
      if (!(log_weight[i] > greatest - negligible)) continue;
      const double weight = std::exp(log_weight[i] - greatest);
      all += weight;
      weighted += weight * rates[i];
    }
    if (weighted > 0 && cairn::detail::is_finite(weighted)) rate_ = weighted / all;
  }

  double middle_, decades_;
  double failures_ = 0;
  double seconds_ = 0;  // of work of one worker
  double update_at_ = 0;
  double rate_ = 0;
};

}  // namespace schedule
}  // namespace cairn::inline v0_1
