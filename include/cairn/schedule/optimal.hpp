// The policy for a stated objective: saves at the density that is the optimum's, and where few saves remain, at the exact optimum.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "cairn/core/config.hpp"
#include "cairn/schedule/base.hpp"
#include "cairn/schedule/early_stop.hpp"
#include "cairn/schedule/estimator.hpp"
#include "cairn/schedule/estimators.hpp"
#include "cairn/schedule/loss_curve.hpp"
#include "cairn/schedule/mtbf.hpp"
#include "cairn/schedule/objective.hpp"
#include "cairn/schedule/observed.hpp"

namespace cairn::schedule {

/// A job as far as a policy knows it.
struct outlook {
  objective what = objective::machine_time;
  std::uint64_t last_step = 0;                 ///< planned; 0: not known
  any_early_stop stops = early_stops::none{};  ///< of the plan, where `last_step` is known
};

/// Decides when the next save is due.
///
/// The density of saves per second that costs least is m(t) = sqrt(f r / (2 S c)), by the calculus of variations (derived;
/// docs/scheduling.md): Young's, times the square root of what lost work is worth against waiting. A save is due when the integral of m
/// since the one before is 1. Where a planned end is near, so that only some `few` saves are left, that integral is too coarse, and the
/// exact optimum of what is left says when. Where the loss has no trusted curve, or no end is planned that could scale its worth,
/// lost work counts as time, and m is 1 / Daly's interval.
class planner {
 public:
  explicit planner(outlook job) : job_(std::move(job)) {}

  struct circumstances {
    double iteration_seconds = 0;
    double failure_rate = 0;  ///< of the job, now
    costs saving{};           ///< S = saving.of_a_save()
    std::optional<loss_curve> curve{};
  };

  /// To be asked once per step. O(1), but for a plan of what is left: O(cells), after a save when few are left and when the curve has
  /// changed.
  [[nodiscard]] CAIRN_INLINE bool is_due(const moment& now, const circumstances& known);

 private:
  static constexpr double few = 12;
  static constexpr std::uint64_t cells = 512;  // of a plan

  [[nodiscard]] double density(double step, const circumstances& known) const;
  [[nodiscard]] double worth(double step, const std::optional<loss_curve>& curve) const;
  void look_ahead(const moment& now, const circumstances& known);
  [[nodiscard]] double saves_left(const moment& now, const circumstances& known) const;

  outlook job_;
  double due_ = 0;  // the integral of the density since the newest save
  double seconds_ = 0;
  double base_density_ = 0;  // 1 / Daly's interval
  double failures_before_ = 0;  // expected since the run began
  std::optional<std::uint64_t> saved_step_{};
  std::optional<loss_curve> curve_{};
  std::optional<std::uint64_t> planned_{};  // the step of the next save, where few are left
};

}  // namespace cairn::schedule

namespace cairn::policies {

struct optimal_options {
  schedule::objective objective = schedule::objective::machine_time;
  std::uint64_t last_step = 0;                      ///< planned; 0: not known, and then all seconds count alike
  mtbf_prior mtbf{};                                ///< of one worker
  std::optional<std::chrono::duration<double>> stall{};  ///< per save; none: measured
  any_early_stop stops = early_stops::none{};
  any_estimator estimator = estimators::best_of{};  ///< of the loss, for the objectives that ask for it
};

/// Saves when the objective's expected cost is least: see schedule::planner. At least once per `longest_interval`.
class optimal {
 public:
  explicit optimal(optimal_options options = {});

  [[nodiscard]] bool should_save(const moment& now);
  void saved(const save_cost& cost) { costs_.observe(cost); }
  void restarted(const restart& how) { failures_.restarted(how); }
  [[nodiscard]] policy_memory remember() const;
  void recall(const policy_memory& memory);

 private:
};

}  // namespace cairn::policies
