// The policy for a stated objective.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "cairn/schedule/base.hpp"
#include "cairn/schedule/early_stop.hpp"
#include "cairn/schedule/estimator.hpp"
#include "cairn/schedule/estimators.hpp"
#include "cairn/schedule/failures.hpp"
#include "cairn/schedule/mtbf.hpp"
#include "cairn/schedule/objective.hpp"
#include "cairn/schedule/observed_run.hpp"
#include "cairn/schedule/planner.hpp"

namespace cairn::policies {

struct optimal_options {
  schedule::objective objective = schedule::objective::machine_time;
  std::uint64_t last_step =
      0;  ///< planned; 0: not known, and then the objectives by the loss are those of machine time
  std::chrono::duration<double>
      plan{};         ///< how long all of it takes, where that is known better than by the iterations so far
  mtbf_prior mtbf{};  ///< of one worker; learned from the run
  std::optional<any_failures> failures{};  ///< of one worker, by its age, where they are known; then not by `mtbf`
  std::optional<std::chrono::duration<double>> stall{};  ///< that a save takes from the training; none: it is measured
  any_early_stop stops = early_stops::none{};            ///< of the plan
  any_estimator estimator = estimators::best_of{};       ///< of the loss, for the objectives by it
};

/// Saves when that costs least by the objective: schedule::planner says when. While the estimator does not trust its fit, and where no end
/// is planned, this is Daly's rule. The first save, which tells what saves cost, comes `probe_steps` after the run began, and no
/// interval is longer than `longest_interval`. O(1) per step besides the estimator, amortised.
class optimal {
 public:
  explicit optimal(optimal_options options = {})
      : estimator_(std::move(options.estimator)),
        failures_(std::move(options.failures)),
        run_(options.mtbf, options.stall),
        planner_({options.objective, options.last_step, options.plan.count(), std::move(options.stops)}) {}

  [[nodiscard]] bool should_save(const moment& now) {
    const double worked = run_.observe(now);
    const auto cost = run_.save_seconds();
    std::optional<loss_curve> curve;
    if (planner_.wants_curve()) {
      if (now.loss) estimator_.observe(static_cast<double>(now.step), *now.loss);
      curve = estimator_.curve();
    }
    if (!cost) return run_.is_probe_due();
    const bool is_due =
        planner_.is_due(now, worked, {run_.iterations().seconds(), mtbf(now), *cost, run_.background_seconds()}, curve);
    return run_.may_save() && (is_due || run_.since_save() >= schedule::longest_interval);
  }

  void saved(const save_cost& cost) { run_.saved(cost); }
  void restarted(const restart& how) { run_.restarted(how); }
  [[nodiscard]] policy_memory remember() const {
    policy_memory memory;
    run_.remember(memory);
    planner_.remember(memory);
    if (planner_.wants_curve()) estimator_.remember(memory);
    return memory;
  }
  void recall(const policy_memory& memory) {
    run_.recall(memory);
    planner_.recall(memory);
    if (planner_.wants_curve()) estimator_.recall(memory);
  }

 private:
  /// Of the job, in seconds, now.
  [[nodiscard]] double mtbf(const moment& now) const {
    if (!failures_) return run_.mtbf();
    const double within = std::max(run_.iterations().seconds(), 1e-3), age = std::max(now.seconds, 0.0);
    const double expected = (failures_->expected(age + within) - failures_->expected(age)) * run_.workers();
    return expected > 0 ? within / expected : std::numeric_limits<double>::infinity();
  }

  any_estimator estimator_;
  std::optional<any_failures> failures_;
  schedule::observed_run run_;
  schedule::planner planner_;
};

}  // namespace cairn::policies
