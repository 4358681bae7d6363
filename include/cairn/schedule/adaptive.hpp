// The default policy: chooses when to save, and as what, from what saves are seen to cost.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "cairn/schedule/base.hpp"
#include "cairn/schedule/early_stop.hpp"
#include "cairn/schedule/estimator.hpp"
#include "cairn/schedule/estimators.hpp"
#include "cairn/schedule/interval.hpp"
#include "cairn/schedule/mtbf.hpp"
#include "cairn/schedule/objective.hpp"
#include "cairn/schedule/observed_run.hpp"
#include "cairn/schedule/planner.hpp"

namespace cairn::policies {

struct adaptive_options {
  double budget_percent = 3.5;  ///< of the time that saves may take from the training; what is not positive is 0
  schedule::objective objective = schedule::objective::machine_time;
  std::uint64_t last_step = 0;  ///< planned; 0: not known, and then all seconds count alike
  std::chrono::duration<double>
      plan{};         ///< how long all of it takes, where that is known better than by the iterations so far
  mtbf_prior mtbf{};  ///< of one worker; learned from the run
  any_early_stop stops = early_stops::none{};       ///< of the plan
  any_estimator estimator = estimators::best_of{};  ///< of the loss, for the objectives by it
  bool may_be_raw = true;  ///< where that costs least; else files stay as small as the codecs make them
};

/// Saves when that costs least by the objective (schedule::planner), as what costs least, within a budget.
///
/// What: as the codecs and the chain options say, which may be a delta; whole; or raw. Expected per second, with S what a save of
/// a kind takes from the training, B the time until it is published and f the rate of failures, saves every T seconds cost
///   S / T + f (T / 2 + B),
/// of which each kind has its best T: Young's, but at least B, and at least S / budget. Another kind than the one in use is taken when it costs a
/// tenth less. What is not measured of a raw save is derived from the others: its writing by the byte, and no encoding. After 32 saves of
/// another kind one is made as the codecs say, to measure that again. Codecs that lose something are used where the rules say so and
/// nowhere else, their bounds hold, and checkpoints without loss come as often as the chain options say, or oftener.
///
/// The budget holds from save to save: none is made before the one before, by its kind's mean cost, is a part of the time since that
/// is within the budget; two exceptions: the first save, `probe_steps` after the run began, which tells what saves cost, and one for every
/// `longest_interval`. O(1) per step besides the estimator, amortised.
class adaptive {
 public:
  explicit adaptive(adaptive_options options = {})
      : budget_(options.budget_percent),
        may_be_raw_(options.may_be_raw),
        estimator_(std::move(options.estimator)),
        run_(options.mtbf),
        planner_({options.objective, options.last_step, options.plan.count(), std::move(options.stops)}) {}

  [[nodiscard]] decision should_save(const moment& now) {
    const double worked = run_.observe(now);
    std::optional<loss_curve> curve;
    if (planner_.wants_curve()) {
      if (now.loss) estimator_.observe(static_cast<double>(now.step), *now.loss);
      curve = estimator_.curve();
    }
    if (!cost_) return run_.is_probe_due();
    const auto& [taken, background, spent] = *cost_;
    const bool is_due =
        planner_.is_due(now, worked, {run_.iterations().seconds(), run_.mtbf(), taken, background}, curve);
    if (!run_.may_save()) return false;
    const bool is_affordable = run_.since_save() >= budget_.interval(spent);
    if (!(is_due && is_affordable) && run_.since_save() < schedule::longest_interval) return false;
    return {true, kind_};
  }

  void saved(const save_cost& cost) {
    run_.saved(cost);
    budget_.saved(cost.kind,
                  cost.stall_seconds + run_.iterations().slowdown() * std::max(cost.background_seconds, 0.0));
    since_configured_ = kind_ ? since_configured_ + 1 : 0;
    choose();
  }
  void restarted(const restart& how) {
    run_.restarted(how);
    choose();
  }
  [[nodiscard]] policy_memory remember() const {
    policy_memory memory;
    run_.remember(memory);
    budget_.remember(memory);
    planner_.remember(memory);
    if (planner_.wants_curve()) estimator_.remember(memory);
    return memory;
  }
  void recall(const policy_memory& memory) {
    run_.recall(memory);
    budget_.recall(memory);
    planner_.recall(memory);
    if (planner_.wants_curve()) estimator_.recall(memory);
    choose();
  }

 private:
  static constexpr double clearly_less = 0.9;
  static constexpr int measure_again = 32;

  /// Seconds per save.
  struct save_price {
    double taken = 0;  // from the training
    double background = 0;
    double spent = 0;  // the same as `taken`, but not clipped: see save_budget
  };

  [[nodiscard]] save_price price_of(const schedule::mean_cost& mean, std::optional<double> spent) const noexcept {
    const double taken = mean.stall + run_.iterations().slowdown() * mean.background;
    return {taken, mean.background, spent.value_or(taken)};
  }

  /// As the codecs and the chain options say: a mixture of deltas and whole ones, as there were.
  [[nodiscard]] std::optional<save_price> configured() const {
    const auto whole = run_.costs().of(save_kind::whole), delta = run_.costs().of(save_kind::delta);
    if (!whole || !delta) {
      const auto kind = whole ? save_kind::whole : save_kind::delta;
      return measured(kind);
    }
    const double part = run_.costs().count(save_kind::delta) /
                        (run_.costs().count(save_kind::delta) + run_.costs().count(save_kind::whole));
    const auto a = *measured(save_kind::whole), b = *measured(save_kind::delta);
    return save_price{std::lerp(a.taken, b.taken, part), std::lerp(a.background, b.background, part),
                      std::lerp(a.spent, b.spent, part)};
  }

  [[nodiscard]] std::optional<save_price> measured(save_kind kind) const {
    const auto seen = run_.costs().of(kind);
    return seen ? std::optional(price_of(*seen, budget_.mean(kind))) : std::nullopt;
  }

  [[nodiscard]] std::optional<save_price> raw() const {
    if (const auto seen = measured(save_kind::raw)) return seen;
    auto whole = run_.costs().of(save_kind::whole);
    if (!whole || !(whole->bytes > 0)) return std::nullopt;
    const double writing = whole->write * whole->state_bytes / whole->bytes;
    whole->background = std::max(whole->background + writing - whole->write - whole->encode, 0.0);
    return price_of(*whole, std::nullopt);
  }

  /// Per second, at the kind's best interval.
  [[nodiscard]] double cost_per_second(const save_price& of) const noexcept {
    const double least = std::max(of.background, std::min(budget_.interval(of.spent), schedule::longest_interval));
    const double interval = std::max(schedule::young_interval(of.taken, run_.mtbf()), least);
    if (!(interval > 0)) return 0;
    return of.taken / interval + (interval / 2 + of.background) / run_.mtbf();
  }

  /// Chooses the kind of the next save from what was seen.
  void choose() {
    const auto as_configured = configured();
    if (!as_configured) return;
    struct option {
      std::optional<save_kind> kind;
      std::optional<save_price> price;
    };
    const std::array<option, 3> options{{{std::nullopt, as_configured},
                                         {save_kind::whole, measured(save_kind::whole)},
                                         {save_kind::raw, may_be_raw_ ? raw() : std::nullopt}}};
    const auto cost_of = [&](const option& one) {
      return one.price ? cost_per_second(*one.price) : std::numeric_limits<double>::infinity();
    };
    const auto in_use =
        std::find_if(options.begin(), options.end(), [&](const option& one) { return one.kind == kind_; });
    const auto least = std::min_element(options.begin(), options.end(),
                                        [&](const option& a, const option& b) { return cost_of(a) < cost_of(b); });
    auto next = cost_of(*least) < clearly_less * cost_of(*in_use) ? *least : *in_use;
    const bool is_known = run_.costs().count(save_kind::whole) + run_.costs().count(save_kind::delta) >= 2;
    if (!is_known || since_configured_ >= measure_again) next = options.front();
    kind_ = next.kind;
    cost_ = next.price;
  }

  schedule::save_budget budget_;
  bool may_be_raw_;
  any_estimator estimator_;
  schedule::observed_run run_;
  schedule::planner planner_;
  std::optional<save_price> cost_;  // of the kind in use
  std::optional<save_kind> kind_;   // none: as the codecs and the chain options say
  int since_configured_ = 0;
};

}  // namespace cairn::policies
