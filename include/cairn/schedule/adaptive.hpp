// SPDX-License-Identifier: MIT
// The default policy: chooses when to save, and as what kind, by what saves are observed to cost.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

#include "cairn/core/float_bits.hpp"
#include "cairn/schedule/base.hpp"
#include "cairn/schedule/interval.hpp"
#include "cairn/schedule/means.hpp"
#include "cairn/schedule/mtbf.hpp"
#include "cairn/schedule/observed_run.hpp"

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
  /// The longest time between two saves, whatever the budget. Infinite: no limit; not positive: an hour.
  std::chrono::duration<double> longest_interval = std::chrono::hours{1};
  mtbf_prior mtbf{};                                     ///< of one worker; learned from the run
  std::optional<std::chrono::duration<double>> stall{};  ///< that a save takes from the training; none: measured
  /// Not `any` by default: whether other programs can read an array would change from one save to the next.
  save_kinds kinds = save_kinds::no_raw;
};

/// Saves at Daly's interval for what saves are observed to cost, as the kind that costs least, within a budget.
///
/// Kind: as configured, which may be a delta; whole; or raw, where `kinds` allows it. Let S be what a save of a kind
/// takes from the training, B the time until it is published, R that of a restore, and f the rate of failures. Saves
/// every T seconds cost, per second,
///   S / T + f (T / 2 + B + R).
/// The best T of a kind is Young's interval, but at least B and at least S / budget. The kind in use changes when
/// another one costs a tenth less. Until the first raw save, its cost is estimated from whole saves: the time of
/// writing grows with the bytes, and there is no encoding. The first two saves, and one after every 32 of another kind,
/// are as configured, to measure them. For saves as configured R is that of the newest restore; for others, of one of
/// the checkpoints that it read. R is 0 until this process has restored a checkpoint: what a restart from a chain costs
/// is not known before. Lossy codecs are used only where the codec rules say so.
///
/// Budget: the time since the newest save must be at least S / budget, with the unclipped mean S of the kind in use.
/// Two exceptions: the first save, `probe_steps` after the run began, which measures the costs, unless `stall` is
/// given; and one save per `longest_interval`.
///
/// O(1) per step.
class adaptive {
 public:
  explicit adaptive(const adaptive_options& options = {})
      : kinds_(options.kinds),
        longest_(schedule::sane_longest(options.longest_interval)),
        budget_(options.budget_percent, longest_),
        run_(options.mtbf, options.stall, longest_) {
    if (const auto known = run_.save_seconds()) price_ = {*known, 0, *known};
  }

  [[nodiscard]] decision should_save(const moment& now) {
    run_.observe(now);
    if (!price_) return run_.is_probe_due();
    if (!run_.may_save()) return false;
    const bool is_due = run_.is_due(schedule::daly_interval(price_->taken, run_.mtbf()));
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
    const bool is_known =
        cairn::detail::is_positive(how.restore_seconds) && cairn::detail::is_finite(how.restore_seconds);
    restore_seconds_ = is_known ? how.restore_seconds : 0;
    restore_seconds_of_link_ = restore_seconds_ / static_cast<double>((std::max)(how.links, std::size_t{1}));
    choose();
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
    choose();
  }

 private:
  static constexpr double clearly_less = 0.9;
  static constexpr int measure_again = 32;  // saves of another kind

  /// Seconds per save.
  struct save_price {
    double taken = 0;       // from the training
    double background = 0;  // until it is published
    double spent = 0;       // `taken` by the mean that is not clipped, see save_budget
  };

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

  /// What saves of this price and failures cost per second, at the best interval that the budget allows. A failure
  /// costs a restore.
  [[nodiscard]] double cost_per_second(const save_price& of, double restore) const {
    const double affordable = budget_.interval(of.spent);
    const double least = (std::max)(of.background, cairn::detail::is_finite(affordable) ? affordable : longest_);
    const double interval = (std::max)((std::min)(schedule::young_interval(of.taken, run_.mtbf()), longest_), least);
    if (!(interval > 0) || !cairn::detail::is_finite(interval)) return 0;
    return of.taken / interval + (interval / 2 + of.background + restore) / run_.mtbf();
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
      if (!one.price) return (std::numeric_limits<double>::max)();
      return cost_per_second(*one.price, one.kind ? restore_seconds_of_link_ : restore_seconds_);
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
  schedule::observed_run run_;
  std::optional<save_price> price_;                           // of the kind in use; none: not known yet
  std::optional<save_kind> kind_;                             // in use; none: as configured
  int since_configured_ = 0;                                  // saves
  double restore_seconds_ = 0, restore_seconds_of_link_ = 0;  // of the newest restore; 0: not known
};

}  // namespace cairn::inline v0_1::policies
