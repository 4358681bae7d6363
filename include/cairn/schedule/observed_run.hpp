// SPDX-License-Identifier: MIT
// What a measuring policy knows of its run: time since the newest checkpoint, iteration times, save costs, failures.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "cairn/core/float_bits.hpp"
#include "cairn/schedule/base.hpp"
#include "cairn/schedule/interval.hpp"
#include "cairn/schedule/mtbf.hpp"
#include "cairn/schedule/means.hpp"

namespace cairn::inline v0_1::schedule {

/// Iteration times, and how much saves slow the training down. Iterations at whose beginning or end a save runs in the
/// background are `beside` a save, the others are `alone`.
class iteration_times {
 public:
  /// To be called once per step. O(1).
  void observe(const moment& now) noexcept {
    const bool is_beside = now.is_saving || was_saving_ || now.saved_step != saved_step_;
    was_saving_ = now.is_saving;
    saved_step_ = now.saved_step;
    if (!(now.iteration_seconds > 0) || !cairn::detail::is_finite(now.iteration_seconds)) return;
    (is_beside ? beside_ : alone_).add(now.iteration_seconds);
    if (!is_beside || alone_.is_empty()) return;
    newest_taken_ =
        (std::min)(newest_taken_ + (std::min)(now.iteration_seconds, 4 * alone_.mean()) - alone_.mean(), most);
  }
  /// To be called when a save is published that took `background_seconds` in the background.
  void saved(double background_seconds) noexcept {
    if (!(background_seconds > 0) || !cairn::detail::is_finite(background_seconds)) return;
    taken_ = taken_ * kept_share + std::exchange(newest_taken_, 0);
    background_ = background_ * kept_share + (std::min)(background_seconds, most);
  }

  /// Of an iteration without a save beside it, in seconds; 0 before the first iteration.
  [[nodiscard]] double seconds() const noexcept { return alone_.is_empty() ? beside_.mean() : alone_.mean(); }

  /// Seconds that a second of saving in the background takes from the training, 0 to 1: the excess of the iterations
  /// beside saves, over the newest saves.
  [[nodiscard]] double slowdown() const noexcept {
    return background_ > 0 ? std::clamp(taken_ / background_, 0.0, 1.0) : 0;
  }

  void remember(policy_memory& memory) const {
    memory["iterations"] = alone_.remember();
    memory["iterations_beside_saves"] = beside_.remember();
    memory["slowdown"] = {taken_, background_};
  }
  void recall(const policy_memory& memory) {
    alone_.recall(memory, "iterations");
    beside_.recall(memory, "iterations_beside_saves");
    const auto kept = cairn::detail::recalled(memory, "slowdown", 2);
    if (!kept.empty() && kept[1] >= 0) taken_ = kept[0], background_ = kept[1];
  }

 private:
  static constexpr double kept_share = 31.0 / 32;  // weight of all earlier saves against the newest one
  static constexpr double most = 1e15;             // seconds: sums stay finite

  running_mean alone_, beside_;
  double newest_taken_ = 0;            // seconds that the running save has taken from the training so far
  double taken_ = 0, background_ = 0;  // seconds, weighted sums
  bool was_saving_ = false;
  std::uint64_t saved_step_ = 0;
};

/// Means of what saves have cost, kind by kind.
class observed_costs {
 public:
  void observe(const save_cost& cost) {
    auto& means = kinds_[static_cast<std::size_t>(cost.kind)];
    const std::array<double, quantities> values{cost.stall_seconds, cost.background_seconds, cost.encode_seconds,
                                                cost.write_seconds, double(cost.bytes),      double(cost.state_bytes)};
    for (std::size_t i = 0; i < quantities; ++i) means[i].add(values[i]);
  }

  [[nodiscard]] double count(save_kind kind) const { return kinds_[static_cast<std::size_t>(kind)][0].count(); }
  /// The mean save of this kind; nothing when there was none.
  [[nodiscard]] std::optional<save_cost> mean(save_kind kind) const {
    if (count(kind) == 0) return std::nullopt;
    const auto& means = kinds_[static_cast<std::size_t>(kind)];
    const auto bytes = [&](std::size_t i) { return static_cast<std::uint64_t>((std::min)(means[i].mean(), 0x1p63)); };
    return save_cost{.kind = kind,
                     .stall_seconds = means[0].mean(),
                     .background_seconds = means[1].mean(),
                     .encode_seconds = means[2].mean(),
                     .write_seconds = means[3].mean(),
                     .bytes = bytes(4),
                     .state_bytes = bytes(5)};
  }
  /// Stall and background of the mean save over all kinds.
  [[nodiscard]] std::optional<save_cost> mean() const {
    double stall = 0, background = 0, all = 0;
    for (const auto& means : kinds_) {
      all += means[0].count();
      stall += means[0].count() * means[0].mean();
      background += means[0].count() * means[1].mean();
    }
    if (all == 0) return std::nullopt;
    return save_cost{.stall_seconds = stall / all, .background_seconds = background / all};
  }

  void remember(policy_memory& memory) const {
    for (std::size_t k = 0; k < kinds_.size(); ++k)
      for (std::size_t i = 0; i < quantities && !kinds_[k][0].is_empty(); ++i)
        memory[name_of(k, i)] = kinds_[k][i].remember();
  }
  void recall(const policy_memory& memory) {
    for (std::size_t k = 0; k < kinds_.size(); ++k)
      for (std::size_t i = 0; i < quantities; ++i) kinds_[k][i].recall(memory, name_of(k, i));
  }

 private:
  static constexpr std::size_t quantities = 6;

  [[nodiscard]] static std::string name_of(std::size_t kind, std::size_t quantity) {
    constexpr const char* of_kind[] = {"raw.", "whole.", "delta."};
    constexpr const char* of_quantity[] = {"stall", "background", "encode", "write", "bytes", "state_bytes"};
    return std::string(of_kind[kind]) + of_quantity[quantity];
  }

  std::array<std::array<running_mean, quantities>, 3> kinds_;
};

/// Seconds of work since the newest checkpoint, without the save itself. The clock may jump, stop or step back: a step
/// counts for at least its iteration.
class time_since_save {
 public:
  /// Call it once per step; a second call for a step adds only the change of the clock. Returns the seconds added.
  double observe(const moment& now) noexcept {
    const bool is_same_step = has_begun_ && now.step == step_;
    if (!has_begun_ || now.saved_step != saved_step_) {
      // The copy after the last step cannot be older than that step, whatever the clock says.
      const bool is_too_old = has_begun_ && now.saved_step == step_ && !(now.saved_seconds > clock_);
      if (!is_too_old) clock_ = now.saved_seconds;
      seconds_ = 0;
    }
    const bool is_known = now.iteration_seconds > 0 && cairn::detail::is_finite(now.iteration_seconds);
    const double least = is_known && !is_same_step ? now.iteration_seconds : 0, passed = now.seconds - clock_;
    const double added = cairn::detail::is_finite(passed) ? (std::max)(passed, least) : least;
    seconds_ += added;
    clock_ = now.seconds;
    step_ = now.step;
    saved_step_ = now.saved_step;
    has_begun_ = true;
    return added;
  }
  [[nodiscard]] double seconds() const noexcept { return seconds_; }

 private:
  bool has_begun_ = false;
  std::uint64_t step_ = 0, saved_step_ = 0;
  double clock_ = 0;  // at the previous step
  double seconds_ = 0;
};

/// The part that all measuring policies share. `observe` must be called once per step, before anything else. O(1).
class observed_run {
 public:
  /// `stall`: all that a save takes from the training, where it is known. Negative: 0; NaN: it is measured. `longest`:
  /// the longest interval, in seconds.
  explicit observed_run(const mtbf_prior& failures = {}, std::optional<std::chrono::duration<double>> stall = {},
                        double longest = longest_interval)
      : failures_(failures), longest_(longest) {
    if (stall && !cairn::detail::is_nan(stall->count())) save_seconds_ = given_ = (std::max)(stall->count(), 0.0);
  }

  /// Returns the seconds of work since the previous step.
  double observe(const moment& now) {
    if (!has_begun_ || now.saved_step < began_at_) began_at_ = now.saved_step;
    if (has_begun_ && now.saved_step > saved_step_) {
      interval_ = interval_with_newest();
      has_saved_ = true;
    }
    if (!has_begun_ || now.step != step_) {
      workers_ = sane_workers(now.workers);
      iterations_.observe(now);
      failures_.worked(now.iteration_seconds, workers_);
    }
    step_ = now.step;
    saved_step_ = now.saved_step;
    is_saving_ = now.is_saving;
    has_begun_ = true;
    return since_save_.observe(now);
  }
  void saved(const save_cost& cost) {
    costs_.observe(cost);
    iterations_.saved(cost.background_seconds);
    failures_.worked(cost.stall_seconds, workers_);
    measure();
  }
  void restarted(const restart& how) {
    failures_.restarted(how, workers_, longest_loss());
    since_save_ = {};  // work after the checkpoint is lost, in this process too
  }

  /// All that such a save takes from the training, in seconds: its stall and its slowdown, or what is known.
  [[nodiscard]] double taken_by(const save_cost& cost) const noexcept {
    return given_.value_or(cost.stall_seconds + iterations_.slowdown() * (std::max)(cost.background_seconds, 0.0));
  }

  /// In seconds.
  [[nodiscard]] double since_save() const noexcept { return since_save_.seconds(); }
  [[nodiscard]] const iteration_times& iterations() const noexcept { return iterations_; }
  [[nodiscard]] const observed_costs& costs() const noexcept { return costs_; }
  [[nodiscard]] double workers() const noexcept { return workers_; }
  /// Of the job, which fails when one of its workers does. In seconds; positive, may be infinite.
  [[nodiscard]] double mtbf() const noexcept { return failures_.seconds() / workers_; }
  /// All that a save takes from the training, in seconds: its stall and its slowdown. Nothing before the first save.
  [[nodiscard]] std::optional<double> save_seconds() const noexcept { return save_seconds_; }
  /// From the copy to publication, in seconds: the mean of all kinds. 0 before the first save.
  [[nodiscard]] double background_seconds() const noexcept { return background_seconds_; }

  /// Whether the longest interval has passed.
  [[nodiscard]] bool is_late() const noexcept { return since_save() >= longest_; }
  /// Whether a save makes sense: not twice for one step, and not while another one runs, unless that takes too long.
  [[nodiscard]] bool may_save() const noexcept { return step_ > saved_step_ && (!is_saving_ || is_late()); }
  /// Whether a save is due where this interval, in seconds, is best.
  [[nodiscard]] bool is_due(double interval) const noexcept {
    return may_save() && (is_late() || schedule::is_due(since_save(), interval, iterations_.seconds()));
  }
  /// Whether to save in order to learn what a save costs: `steps` after the run began, and while published saves report
  /// no cost, each time that the number of steps has doubled.
  [[nodiscard]] bool is_probe_due(std::uint64_t steps = probe_steps) const noexcept {
    return may_save() && (is_late() || step_ - saved_step_ >= (std::max)(steps, saved_step_ - began_at_));
  }

  void remember(policy_memory& memory) const {
    iterations_.remember(memory);
    costs_.remember(memory);
    failures_.remember(memory);
    memory["workers"] = {workers_};
    if (const double interval = interval_with_newest(); interval > 0) memory["interval"] = {interval};
  }
  void recall(const policy_memory& memory) {
    iterations_.recall(memory);
    costs_.recall(memory);
    failures_.recall(memory);
    if (const auto kept = cairn::detail::recalled(memory, "workers", 1); !kept.empty())
      workers_ = sane_workers(kept[0]);
    if (const auto kept = cairn::detail::recalled(memory, "interval", 1); !kept.empty() && kept[0] > 0) {
      interval_ = (std::min)(kept[0], longest_);
      has_saved_ = true;
    }
    measure();
  }

 private:
  [[nodiscard]] static double sane_workers(double workers) noexcept {
    return workers > 0 && cairn::detail::is_finite(workers) ? workers : 1;
  }

  /// The interval between saves, in seconds: max(the last interval, the previous value / 2), so that one early save
  /// does not make it short, and at most `longest_`. The first interval of a run may be a probe and does not count.
  [[nodiscard]] double interval_with_newest() const noexcept {
    if (!has_begun_) return interval_;
    return has_saved_ ? (std::min)((std::max)(since_save(), interval_ / 2), longest_) : 0;
  }
  /// The longest work that a failure can lose: a run that works longer publishes its next checkpoint.
  [[nodiscard]] double longest_loss() const noexcept {
    return interval_ > 0 ? (std::min)(interval_ + background_seconds_, longest_) : longest_;
  }

  void measure() {
    const auto mean = costs_.mean();
    if (!mean) return;
    background_seconds_ = mean->background_seconds;
    save_seconds_ = taken_by(*mean);
  }

  iteration_times iterations_;
  observed_costs costs_;
  mtbf_estimate failures_;
  double longest_;  // seconds
  time_since_save since_save_;
  std::optional<double> given_;  // what a save takes, if it is known in advance
  std::optional<double> save_seconds_;
  double background_seconds_ = 0;
  double workers_ = 1;
  double interval_ = 0;  // see interval_with_newest; 0: not known
  bool has_begun_ = false, has_saved_ = false, is_saving_ = false;
  std::uint64_t began_at_ = 0, step_ = 0, saved_step_ = 0;
};

}  // namespace cairn::inline v0_1::schedule
