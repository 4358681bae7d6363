// When the next save is due, for a stated objective: at the density of the optimum, or by the exact optimum of what is left.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "cairn/core/config.hpp"
#include "cairn/schedule/base.hpp"
#include "cairn/schedule/early_stop.hpp"
#include "cairn/schedule/loss_curve.hpp"
#include "cairn/schedule/objective.hpp"

namespace cairn::schedule {

/// A job as far as its policy knows it.
struct outlook {
  objective what = objective::machine_time;
  std::uint64_t last_step = 0;                 ///< planned; 0: not known
  double seconds = 0;                          ///< T, of the whole plan; not positive: as many iterations as now
  any_early_stop stops = early_stops::none{};  ///< of the plan
};

/// What a save would be now.
struct circumstances {
  double iteration_seconds = 0;
  double mtbf = 0;          ///< of the job, in seconds
  double save_seconds = 0;  ///< all that a save takes from the training: S
  double background = 0;    ///< from the copy until it is published, in seconds
};

/// The density of saves per second that costs least is m = sqrt(f r / (2 S c)), by the calculus of variations (derived;
/// docs/scheduling.md), with the prices c and r of the objective: Young's, times the root of what lost work is worth against waiting.
/// Here Daly's interval, which is better where S is not small, is taken for Young's. A save is due when the integral of m since the
/// newest checkpoint is 1. Where the plan ends so soon that few saves are left, that is too coarse, and the exact optimum
/// of what is left says when. Where no curve of the loss is trusted, or no end is planned that could scale it, c = r = 1.
class planner {
 public:
  explicit planner(outlook job) : job_(std::move(job)) {}

  /// Whether the objective asks for a curve of the loss.
  [[nodiscard]] bool wants_curve() const noexcept {
    return job_.last_step > 0 && job_.what != objective::machine_time && job_.what != objective::worker_seconds;
  }

  /// To be called once per step, `worked` seconds after the step before. O(1), but for a plan of what is left: O(512), after a save,
  /// with a new curve, and after every eighth part of what is left.
  [[nodiscard]] CAIRN_INLINE bool is_due(const moment& now, double worked, const circumstances& all,
                                         const std::optional<loss_curve>& curve);

  /// Keeps the step at which the run began: the prices are scaled to the plan from there on.
  void remember(policy_memory& memory) const {
    if (first_step_) memory["first_step"] = {static_cast<double>(*first_step_)};
  }
  void recall(const policy_memory& memory) {
    const auto kept = memory.find("first_step");
    if (kept != memory.end() && kept->second.size() == 1 && kept->second[0] >= 0 && kept->second[0] < 0x1p63)
      first_step_ = static_cast<std::uint64_t>(kept->second[0]);
  }

 private:
  [[nodiscard]] bool knows_end(const moment& now) const noexcept { return job_.last_step > now.step; }
  [[nodiscard]] std::uint64_t first_step() const noexcept { return first_step_.value_or(0); }
  /// The step of the newest checkpoint, or that at which the run began.
  [[nodiscard]] std::uint64_t checkpoint_step(const moment& now) const noexcept {
    return std::max(now.saved_step, first_step());
  }
  [[nodiscard]] double worth_of_loss(const circumstances& all) const noexcept;
  [[nodiscard]] double density(double step, const circumstances& all) const noexcept;
  [[nodiscard]] double saves_left(const moment& now, const circumstances& all) const noexcept;
  void look_ahead(const moment& now, const circumstances& all);
  [[nodiscard]] std::optional<std::uint64_t> next_of_optimum(const moment& now, const circumstances& all) const;

  outlook job_;
  std::optional<std::uint64_t> first_step_{};  // after which the first observed step was done
  std::optional<loss_curve> curve_{};          // only if it is of use
  double scale_ = 0;                           // 1 / fall of the curve over the plan
  double integral_ = 0;                        // of the density since the newest checkpoint
  double failures_before_ = 0;                 // expected so far
  bool few_left_ = false;
  std::optional<std::uint64_t> planned_{};  // where few are left: the step of the next save
  std::uint64_t saved_step_ = 0, look_again_ = 0;
};

}  // namespace cairn::schedule

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/schedule/planner.ipp"  // IWYU pragma: keep
#endif
