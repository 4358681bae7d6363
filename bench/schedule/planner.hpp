// SPDX-License-Identifier: MIT
// Says when the next save is due under an objective: by the density of the optimum, or by the exact optimum of what is
// left.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "cairn/schedule/base.hpp"
#include "cairn/schedule/estimator.hpp"
#include "schedule/failure_models.hpp"
#include "schedule/workload.hpp"

namespace bench::schedule {

/// What the options say about the run.
struct run_options {
  objective what = objective::machine_time;
  std::optional<std::uint64_t> last_step{};    ///< none: not known
  std::optional<double> seconds{};             ///< T, of the whole run; none: from the mean iteration
  any_early_stop stops = early_stops::none{};  ///< of the run
};

/// Current estimates.
struct current_costs {
  double iteration_seconds = 0;
  double mtbf = 0;          ///< of the job, in seconds
  double save_seconds = 0;  ///< all that a save takes from the training: S
  double background = 0;    ///< from the copy to publication, in seconds
};

/// The density of saves per second with the least cost is m = sqrt(f r / (2 S c)), by the calculus of variations
/// (derived in bench/schedule/README.md), with the prices c and r of the objective: Young's density times sqrt(r / c).
/// Daly's interval replaces Young's here; it is better where S is not small. A save is due when the integral of m since
/// the newest checkpoint reaches 1. Where few saves are left until the end this is too coarse, and the exact optimum of
/// what is left decides. Without a curve or a last step c = r = 1.
class planner {
 public:
  explicit planner(run_options run) : run_(std::move(run)) {}

  /// Whether the objective needs a curve of the loss.
  [[nodiscard]] bool wants_curve() const noexcept { return run_.last_step && is_by_loss(run_.what); }

  /// To be called once per step, `worked` seconds after the previous step. O(1); where few saves are left, a plan of
  /// 512 cells is made after each save, for each new curve, and after every eighth of the steps that are left.
  [[nodiscard]] bool is_due(const cairn::moment& now, double worked, const current_costs& all,
                            const std::optional<cairn::loss_curve>& curve);

  /// The run continues from a checkpoint: work after that is lost, in this process too.
  void restarted() noexcept {
    integral_ = 0;
    look_again_ = 0;
  }

  /// Keeps the step at which the run began, since prices are scaled to the run from there on, and for `coci` the
  /// failures expected so far.
  void remember(cairn::policy_memory& memory) const {
    if (first_step_) memory["first_step"] = {static_cast<double>(*first_step_)};
    if (run_.what == objective::coci) memory["failures_before"] = {failures_before_};
  }
  void recall(const cairn::policy_memory& memory) {
    const auto kept = memory.find("first_step");
    if (kept != memory.end() && kept->second.size() == 1 && kept->second[0] >= 0 && kept->second[0] < 0x1p63)
      first_step_ = static_cast<std::uint64_t>(kept->second[0]);
    const auto expected = memory.find("failures_before");
    if (expected != memory.end() && expected->second.size() == 1 && expected->second[0] >= 0)
      failures_before_ = expected->second[0];
  }

 private:
  [[nodiscard]] bool knows_end(const cairn::moment& now) const noexcept {
    return run_.last_step && *run_.last_step > now.step;
  }
  [[nodiscard]] std::uint64_t first_step() const noexcept { return first_step_.value_or(0); }
  /// Of the newest checkpoint, or where the run began.
  [[nodiscard]] std::uint64_t checkpoint_step(const cairn::moment& now) const noexcept {
    return std::max(now.saved_step, first_step());
  }
  [[nodiscard]] double price_of_loss(const current_costs& all) const noexcept;
  [[nodiscard]] double density(double step, const current_costs& all) const noexcept;
  [[nodiscard]] double saves_left(const cairn::moment& now, const current_costs& all) const noexcept;
  void look_ahead(const cairn::moment& now, const current_costs& all);
  [[nodiscard]] std::optional<std::uint64_t> next_of_optimum(const cairn::moment& now, const current_costs& all) const;

  run_options run_;
  std::optional<std::uint64_t> first_step_{};  // the one before the first one observed: where the run began
  std::optional<cairn::loss_curve> curve_{};   // only if it is of use
  double scale_ = 0;                           // 1 / fall of the curve over the run
  double integral_ = 0;                        // of the density since the newest checkpoint
  double failures_before_ = 0;                 // expected in the work so far
  bool few_left_ = false;
  std::optional<std::uint64_t> next_save_{};  // where few are left: its step
  std::uint64_t saved_step_ = 0, look_again_ = 0;
};

}  // namespace bench::schedule
