// SPDX-License-Identifier: MIT
// A policy for any objective: saves when that costs least, by `planner`, where the end of the run and its failures may
// be known.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "cairn/core/error.hpp"
#include "cairn/core/float_bits.hpp"
#include "cairn/schedule/base.hpp"
#include "cairn/schedule/estimator.hpp"
#include "cairn/schedule/interval.hpp"
#include "cairn/schedule/mtbf.hpp"
#include "cairn/schedule/observed_run.hpp"
#include "schedule/failure_models.hpp"
#include "schedule/planner.hpp"
#include "schedule/workload.hpp"

namespace bench::schedule {

struct by_objective_options {
  objective what = objective::machine_time;
  std::optional<std::uint64_t> last_step{};  ///< of the run; none: not known, and then all seconds count alike
  std::optional<std::chrono::duration<double>> run_time{};  ///< of the whole run; none: from the mean iteration
  cairn::mtbf_prior mtbf{};                                 ///< of one worker; learned from the run
  std::optional<any_failures> failures{};  ///< of one worker, by its age, where they are known; replaces `mtbf`
  std::optional<std::chrono::duration<double>> stall{};  ///< that a save takes from the training; none: measured
  any_early_stop stops = early_stops::none{};            ///< of the run
  std::optional<cairn::any_estimator>
      estimator{};  ///< needed when the objective depends on the loss and `last_step` is set
};

/// Saves as the codecs say, when that costs least by the objective. The first save, `probe_steps` after the run began,
/// measures what a save takes, unless `stall` is given. One save per `longest_interval` is made in any case. Throws
/// errc::invalid for an objective by the loss with a `last_step` and no estimator.
class by_objective {
 public:
  explicit by_objective(by_objective_options options = {})
      : estimator_(std::move(options.estimator)),
        failures_(std::move(options.failures)),
        run_(options.mtbf, options.stall),
        planner_({options.what, options.last_step,
                  options.run_time ? std::optional(options.run_time->count()) : std::nullopt,
                  std::move(options.stops)}) {
    if (planner_.wants_curve() && !estimator_)
      cairn::fail(cairn::errc::invalid,
                  {"the objective ", std::string(name(options.what)), " needs an estimator of the loss"});
  }

  [[nodiscard]] bool should_save(const cairn::moment& now) {
    const double worked = run_.observe(now);
    age_ = std::max(now.seconds, 0.0);
    std::optional<cairn::loss_curve> curve;
    if (planner_.wants_curve()) {
      if (now.loss) estimator_->observe(static_cast<double>(now.step), *now.loss);
      curve = estimator_->curve();
    }
    const auto taken = run_.save_seconds();
    if (!taken) return run_.is_probe_due();
    const bool is_due =
        planner_.is_due(now, worked, {run_.iterations().seconds(), mtbf(), *taken, run_.background_seconds()}, curve);
    return run_.may_save() && (is_due || run_.is_late());
  }
  void saved(const cairn::save_cost& cost) { run_.saved(cost); }
  void restarted(const cairn::restart& how) {
    run_.restarted(how);
    planner_.restarted();
  }
  [[nodiscard]] cairn::policy_memory remember() const {
    cairn::policy_memory memory;
    run_.remember(memory);
    planner_.remember(memory);
    if (planner_.wants_curve()) estimator_->remember(memory);
    return memory;
  }
  void recall(const cairn::policy_memory& memory) {
    run_.recall(memory);
    planner_.recall(memory);
    if (planner_.wants_curve()) estimator_->recall(memory);
  }

 private:
  /// Of the job, in seconds, now.
  [[nodiscard]] double mtbf() const {
    if (!failures_) return run_.mtbf();
    const double within = std::max(run_.iterations().seconds(), 1e-3);
    const double expected = (failures_->expected(age_ + within) - failures_->expected(age_)) * run_.workers();
    return expected > 0 ? within / expected : cairn::detail::infinite();
  }

  std::optional<cairn::any_estimator> estimator_;
  std::optional<any_failures> failures_;
  cairn::schedule::observed_run run_;
  planner planner_;
  double age_ = 0;  // of the process, in seconds
};

}  // namespace bench::schedule
