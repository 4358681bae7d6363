// SPDX-License-Identifier: MIT
// CheckFreq's rule: as often as one save can follow the other, within a budget.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "cairn/core/float_bits.hpp"
#include "cairn/schedule/base.hpp"
#include "cairn/schedule/interval.hpp"
#include "cairn/schedule/observed_run.hpp"

namespace cairn::inline v0_1::policies {

/// The budget of CheckFreq's rule, and the length of its profile.
struct checkfreq_options {
  double budget_percent = 3.5;       ///< of the training time that saves may take; not positive: 0
  std::uint64_t profile_steps = 30;  ///< before the first save
};

/// Mohan, Phanishayee, Chidambaram: CheckFreq: frequent, fine-grained DNN checkpointing, FAST 2021.
///
/// Published: iterations of t seconds are profiled, then a whole checkpoint, of which snapshot and persisting take
/// t_full seconds and o seconds stop the training. A checkpoint is made every k = max(ceil((t_full - o) / t), 1)
/// iterations, so that one is persisted before the next begins. While the overhead measured over k iterations exceeds
/// the budget, k grows. (Their code adds 2 at a time, measures over 100 iterations at first and stops adapting at the
/// first k that keeps to the budget, and its budget is 5 %; 3.5 % is the paper's.)
///
/// Here: the profile ends with the run's first checkpoint. o is the mean stall, t_full - o the mean background time. k
/// is at once the least within the budget, ceil(s / (budget t)), with the unclipped mean s of a save's cost to the
/// training. Means follow what is observed, so k falls as well as grows. With a budget of zero, or while the iteration
/// time is not known, there is one checkpoint per `longest_interval`. What was profiled is remembered. O(1) per step.
class checkfreq {
 public:
  explicit checkfreq(const checkfreq_options& options = {})
      : budget_(options.budget_percent), profile_steps_(options.profile_steps) {}

  [[nodiscard]] bool should_save(const moment& now) {
    run_.observe(now);
    if (!run_.save_seconds()) return run_.is_probe_due(profile_steps_);
    if (!run_.may_save()) return false;
    return run_.is_late() || static_cast<double>(now.step - now.saved_step) >= iterations();
  }
  void saved(const save_cost& cost) {
    run_.saved(cost);
    budget_.saved(cost.kind, run_.taken_by(cost));
  }
  [[nodiscard]] policy_memory remember() const {
    policy_memory memory;
    run_.remember(memory);
    budget_.remember(memory);
    return memory;
  }
  void recall(const policy_memory& memory) {
    run_.recall(memory);
    budget_.recall(memory);
  }

  /// Iterations from one checkpoint to the next; infinite where only `longest_interval` counts, and before the profile.
  [[nodiscard]] double iterations() const noexcept {
    const auto taken = run_.save_seconds();
    const double iteration = run_.iterations().seconds();
    if (!taken || !(iteration > 0)) return cairn::detail::infinite();
    const double least = std::ceil(budget_.interval(budget_.mean().value_or(*taken)) / iteration);
    return (std::max)({std::ceil(run_.background_seconds() / iteration), least, 1.0});
  }

 private:
  schedule::save_budget budget_;
  std::uint64_t profile_steps_;
  schedule::observed_run run_;
};

}  // namespace cairn::inline v0_1::policies
