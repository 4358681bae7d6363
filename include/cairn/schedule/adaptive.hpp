// SPDX-License-Identifier: MIT
// The default policy: chooses when to save, and as what kind, by what saves are observed to cost.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "cairn/core/error.hpp"
#include "cairn/core/float_bits.hpp"
#include "cairn/schedule/base.hpp"
#include "cairn/schedule/estimator.hpp"
#include "cairn/schedule/failure_models.hpp"
#include "cairn/schedule/interval.hpp"
#include "cairn/schedule/means.hpp"
#include "cairn/schedule/mtbf.hpp"
#include "cairn/schedule/observed_run.hpp"
#include "cairn/schedule/planner.hpp"
#include "cairn/schedule/workload.hpp"

namespace cairn::inline v0_1::policies {

/// The kinds of saves that a policy may choose from.
enum class save_kinds : std::uint8_t {
  any,        ///< as configured, whole or raw: whichever costs least
  no_raw,     ///< as configured or whole: files stay as small as the codecs make them
  configured  ///< as the codecs and the chain options say
};

inline constexpr double no_budget = cairn::detail::infinite();

/// What the default policy optimises, and the share of the time that saves may take.
struct adaptive_options {
  double budget_percent = 3.5;  ///< of the training time that saves may take; not positive: 0
  /// After it a save is due in any case, whatever the budget. Infinite: none is; not positive: an hour.
  std::chrono::duration<double> longest_interval = std::chrono::hours{1};
  schedule::objective objective = schedule::objective::machine_time;  ///< what a failure costs: see scheduling.md
  std::optional<std::uint64_t> last_step{};  ///< of the run; none: not known, and then all seconds count alike
  /// Of the whole run; none: from the mean iteration. Only with a `last_step`.
  std::optional<std::chrono::duration<double>> run_time{};
  mtbf_prior mtbf{};                       ///< of one worker; learned from the run
  std::optional<any_failures> failures{};  ///< of one worker, by its age, where they are known; replaces `mtbf`
  std::optional<std::chrono::duration<double>> stall{};  ///< that a save takes from the training; none: measured
  any_early_stop stops = early_stops::none{};            ///< of the run
  /// Predicts the loss. Required when the objective depends on the loss and `last_step` is set.
  std::optional<any_estimator> estimator{};
  /// Not `any` by default: whether other programs can read an array would change from one save to the next.
  save_kinds kinds = save_kinds::no_raw;
};

/// Saves when that costs least by the objective (schedule::planner), as the kind that costs least, within a budget.
///
/// Kind: as configured, which may be a delta; whole; or raw, where `kinds` allows it. Let S be what a save of a kind takes from the training, B the time until it
/// is published, and f the rate of failures. Saves every T seconds cost, per second,
///   S / T + f (T / 2 + B).
/// The best T of a kind is Young's interval, but at least B and at least S / budget. The kind in use changes when another one costs a
/// tenth less. Until the first raw save, its cost is estimated from whole saves: the time of writing grows with the bytes, and there is no
/// encoding. The first two saves, and one after every 32 of another kind, are as configured, to measure them. Lossy codecs are used
/// only where the codec rules say so.
///
/// Budget: the time since the newest save must be at least S / budget, with the unclipped mean S of the kind in use. Two exceptions: the
/// first save, `probe_steps` after the run began, which measures the costs, unless `stall` is given; and one save per
/// `longest_interval`.
///
/// Amortised O(1) per step, and what the estimator takes. The constructor throws errc::invalid for a `last_step` or a `run_time` that
/// is not above 0, for a `run_time` without a `last_step`, and for an objective by the loss with a `last_step` and no estimator.
class adaptive {
 public:
  explicit adaptive(adaptive_options options = {})
      : kinds_(options.kinds),
        longest_(schedule::sane_longest(options.longest_interval)),
        budget_(options.budget_percent, longest_),
        estimator_(std::move(options.estimator)),
        failures_(std::move(options.failures)),
        run_(options.mtbf, options.stall, longest_),
        planner_({options.objective, options.last_step, seconds_of(options.run_time), std::move(options.stops)}) {
    if (options.last_step == std::uint64_t{0}) fail(errc::invalid, {"last_step is 0"});
    if (options.run_time && !cairn::detail::is_positive(options.run_time->count()))
      fail(errc::invalid, {"run_time is not above 0"});
    if (options.run_time && !options.last_step) fail(errc::invalid, {"run_time is given without last_step"});
    if (planner_.wants_curve() && !estimator_)
      fail(errc::invalid, {"the objective ", std::string(name(options.objective)),
                           " needs an estimator of the loss, for example .estimator = cairn::estimators::best_of{} of "
                           "cairn/schedule/fits/estimators.hpp"});
    if (const auto known = run_.save_seconds()) price_ = {*known, 0, *known};
  }

  [[nodiscard]] decision should_save(const moment& now) {
    const double worked = run_.observe(now);
    age_ = (std::max)(now.seconds, 0.0);
    std::optional<loss_curve> curve;
    if (planner_.wants_curve()) {
      if (now.loss) estimator_->observe(static_cast<double>(now.step), *now.loss);
      curve = estimator_->curve();
    }
    if (!price_) return run_.is_probe_due();
    const bool is_due =
        planner_.is_due(now, worked, {run_.iterations().seconds(), mtbf(), price_->taken, price_->background}, curve);
    if (!run_.may_save()) return false;
    const bool is_affordable = run_.since_save() >= budget_.interval(price_->spent);
    if (!(is_due && is_affordable) && !run_.is_late()) return false;
    return {true, kind_};
  }

  void saved(const save_cost& cost) {
    run_.saved(cost);
    budget_.saved(cost.kind, run_.taken_by(cost));
    since_configured_ = kind_ ? since_configured_ + 1 : 0;
    choose();
  }
  void restarted(const restart& how) {
    run_.restarted(how);
    planner_.restarted();
    choose();
  }
  [[nodiscard]] policy_memory remember() const {
    policy_memory memory;
    run_.remember(memory);
    budget_.remember(memory);
    planner_.remember(memory);
    if (planner_.wants_curve()) estimator_->remember(memory);
    return memory;
  }
  void recall(const policy_memory& memory) {
    run_.recall(memory);
    budget_.recall(memory);
    planner_.recall(memory);
    if (planner_.wants_curve()) estimator_->recall(memory);
    choose();
  }

 private:
  static constexpr double clearly_less = 0.9;
  static constexpr int measure_again = 32;  // saves of another kind

  [[nodiscard]] static std::optional<double> seconds_of(std::optional<std::chrono::duration<double>> time) {
    return time ? std::optional(time->count()) : std::nullopt;
  }

  /// Seconds per save.
  struct save_price {
    double taken = 0;       // from the training
    double background = 0;  // until it is published
    double spent = 0;       // `taken` by the mean that is not clipped, see save_budget
  };

  /// Of the job, in seconds, now.
  [[nodiscard]] double mtbf() const {
    if (!failures_) return run_.mtbf();
    const double within = (std::max)(run_.iterations().seconds(), 1e-3);
    const double expected = (failures_->expected(age_ + within) - failures_->expected(age_)) * run_.workers();
    return expected > 0 ? within / expected : cairn::detail::infinite();
  }

  [[nodiscard]] std::optional<save_price> price_of(save_kind kind) const {
    const auto mean = run_.costs().mean(kind);
    if (!mean) return std::nullopt;
    const double taken = run_.taken_by(*mean);
    return save_price{taken, mean->background_seconds, budget_.mean(kind).value_or(taken)};
  }

  /// The mean over whole saves and deltas, weighted by their numbers.
  [[nodiscard]] std::optional<save_price> configured() const {
    const auto whole = price_of(save_kind::whole), delta = price_of(save_kind::delta);
    if (!whole || !delta) return whole ? whole : delta;
    const double deltas = run_.costs().count(save_kind::delta);
    const double part = deltas / (deltas + run_.costs().count(save_kind::whole));
    return save_price{std::lerp(whole->taken, delta->taken, part),
                      std::lerp(whole->background, delta->background, part),
                      std::lerp(whole->spent, delta->spent, part)};
  }

  /// As measured; until the first raw save, a whole save that writes the bytes of the state without encoding them.
  [[nodiscard]] std::optional<save_price> raw() const {
    if (const auto measured = price_of(save_kind::raw)) return measured;
    auto whole = run_.costs().mean(save_kind::whole);
    if (!whole || whole->bytes == 0) return std::nullopt;
    const double growth = static_cast<double>(whole->state_bytes) / static_cast<double>(whole->bytes);
    whole->background_seconds += whole->write_seconds * (growth - 1) - whole->encode_seconds;
    whole->background_seconds = (std::max)(whole->background_seconds, 0.0);
    const double taken = run_.taken_by(*whole);
    return save_price{taken, whole->background_seconds, taken};
  }

  /// What saves of this price and failures cost per second, at the best interval that the budget allows.
  [[nodiscard]] double cost_per_second(const save_price& of) const {
    const double affordable = budget_.interval(of.spent);
    const double least = (std::max)(of.background, cairn::detail::is_finite(affordable) ? affordable : longest_);
    const double interval = (std::max)((std::min)(schedule::young_interval(of.taken, mtbf()), longest_), least);
    if (!(interval > 0) || !cairn::detail::is_finite(interval)) return 0;
    return of.taken / interval + (interval / 2 + of.background) / mtbf();
  }

  /// Chooses the kind of the next save, and its price.
  void choose() {
    if (kinds_ == save_kinds::configured) {
      if (const auto taken = run_.save_seconds())
        price_ = {*taken, run_.background_seconds(), budget_.mean().value_or(*taken)};
      return;
    }
    const auto as_configured = configured();
    if (!as_configured) return;
    struct option {
      std::optional<save_kind> kind;
      std::optional<save_price> price;
    };
    const std::array<option, 3> options{{{std::nullopt, as_configured},
                                         {save_kind::whole, price_of(save_kind::whole)},
                                         {save_kind::raw, kinds_ == save_kinds::any ? raw() : std::nullopt}}};
    const auto cost_of = [&](const option& one) {
      return one.price ? cost_per_second(*one.price) : (std::numeric_limits<double>::max)();
    };
    const auto in_use = std::ranges::find(options, kind_, &option::kind);
    const auto least = std::ranges::min_element(options, {}, cost_of);
    auto next = cost_of(*least) < clearly_less * cost_of(*in_use) ? *least : *in_use;
    const bool is_known = run_.costs().count(save_kind::whole) + run_.costs().count(save_kind::delta) >= 2;
    if (!is_known || since_configured_ >= measure_again) next = options.front();
    kind_ = next.kind;
    price_ = next.price;
  }

  save_kinds kinds_;
  double longest_;  // interval, in seconds
  schedule::save_budget budget_;
  std::optional<any_estimator> estimator_;
  std::optional<any_failures> failures_;
  schedule::observed_run run_;
  schedule::planner planner_;
  std::optional<save_price> price_;  // of the kind in use; none: not known yet
  std::optional<save_kind> kind_;    // in use; none: as configured
  int since_configured_ = 0;         // saves
  double age_ = 0;                   // of the process, in seconds
};

}  // namespace cairn::inline v0_1::policies
