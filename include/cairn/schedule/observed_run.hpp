// What a measuring policy knows of its run: time since the newest checkpoint, iteration times, failures, the cost of a save.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>

#include "cairn/schedule/base.hpp"
#include "cairn/schedule/interval.hpp"
#include "cairn/schedule/mtbf.hpp"
#include "cairn/schedule/observed.hpp"

namespace cairn::schedule {

/// Work since the newest checkpoint, in seconds, by a clock that may jump, stand still or step back: a step takes at least its
/// iteration. The save itself is no work.
class time_since_save {
 public:
  /// To be called once per step; a second call for the same step adds only what the clock has gone on. Returns
  /// the seconds added.
  double observe(const moment& now) noexcept {
    const bool is_same_step = has_begun_ && now.step == step_;
    if (!has_begun_ || now.saved_step != saved_step_) {
      const bool is_after_us = has_begun_ && now.saved_step == step_ && !(now.saved_seconds > clock_);
      if (!is_after_us) clock_ = now.saved_seconds;
      seconds_ = 0;
    }
    const bool is_known = now.iteration_seconds > 0 && std::isfinite(now.iteration_seconds);
    const double least = is_known && !is_same_step ? now.iteration_seconds : 0, passed = now.seconds - clock_;
    const double added = std::isfinite(passed) ? std::max(passed, least) : least;
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
  double clock_ = 0;  // at the step before
  double seconds_ = 0;
};

/// What policies that measure have in common. To be observed once per step, before anything is asked. O(1).
class observed_run {
 public:
  /// `stall`: all that a save takes from the training, if it is known; a negative one is none, what is no number is measured.
  explicit observed_run(const mtbf_prior& failures = {}, std::optional<std::chrono::duration<double>> stall = {})
      : failures_(failures) {
    if (stall && !std::isnan(stall->count())) save_seconds_ = given_ = std::max(stall->count(), 0.0);
  }

  /// Returns the seconds of work since the step before.
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

  /// In seconds.
  [[nodiscard]] double since_save() const noexcept { return since_save_.seconds(); }
  [[nodiscard]] const iteration_times& iterations() const noexcept { return iterations_; }
  [[nodiscard]] const observed_costs& costs() const noexcept { return costs_; }
  [[nodiscard]] double workers() const noexcept { return workers_; }
  /// Of the job: it fails when one of its workers does. In seconds; positive, may be infinite.
  [[nodiscard]] double mtbf() const noexcept { return failures_.seconds() / workers_; }
  /// All that a save takes from the training, in seconds: its stall, and what it slows the training down by. Nothing until there was one.
  [[nodiscard]] std::optional<double> save_seconds() const noexcept { return save_seconds_; }
  /// From a copy until it is published, in seconds: the mean of all kinds, as `costs` has it. 0 until there was one.
  [[nodiscard]] double background_seconds() const noexcept { return background_seconds_; }

  /// Whether it makes sense to ask for a save: never a second one of a step, nor beside another one, unless that takes too long.
  [[nodiscard]] bool may_save() const noexcept {
    return step_ > saved_step_ && (!is_saving_ || since_save() >= longest_interval);
  }
  /// Whether to save as often as is best at this interval, in seconds.
  [[nodiscard]] bool is_due(double interval) const noexcept {
    return may_save() && schedule::is_due(since_save(), interval, iterations_.seconds());
  }
  /// Whether to save so as to learn what that costs: `steps` after the run began, and as long as nobody tells, whenever there have been
  /// as many steps again as up to the save before.
  [[nodiscard]] bool is_probe_due(std::uint64_t steps = probe_steps) const noexcept {
    return may_save() &&
           (since_save() >= longest_interval || step_ - saved_step_ >= std::max(steps, saved_step_ - began_at_));
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
    const auto kept = memory.find("workers");
    if (kept != memory.end() && kept->second.size() == 1) workers_ = sane_workers(kept->second[0]);
    const auto interval = memory.find("interval");
    if (interval != memory.end() && interval->second.size() == 1 && interval->second[0] > 0) {
      interval_ = std::min(interval->second[0], longest_interval);
      has_saved_ = true;
    }
    measure();
  }

 private:
  [[nodiscard]] static double sane_workers(double workers) noexcept {
    return workers > 0 && std::isfinite(workers) ? workers : 1;
  }

  /// The interval from one save to the next, in seconds: the longest of the newest ones, each of which counts half as much as the one
  /// after it, so that a save out of turn does not make it short. The first interval of a run may be a probe and does not count.
  [[nodiscard]] double interval_with_newest() const noexcept {
    if (!has_begun_) return interval_;
    return has_saved_ ? std::min(std::max(since_save(), interval_ / 2), longest_interval) : 0;
  }
  /// The longest work that a failure can lose: a run that works longer publishes its next checkpoint.
  [[nodiscard]] double longest_loss() const noexcept {
    return interval_ > 0 ? std::min(interval_ + background_seconds_, longest_interval) : longest_interval;
  }

  void measure() {
    const auto mean = costs_.mean();
    if (!mean) return;
    background_seconds_ = mean->background;
    if (!given_) save_seconds_ = mean->stall + iterations_.slowdown() * mean->background;
  }

  iteration_times iterations_;
  observed_costs costs_;
  mtbf_estimate failures_;
  time_since_save since_save_;
  std::optional<double> given_, save_seconds_;
  double background_seconds_ = 0;
  double workers_ = 1;
  double interval_ = 0;  // see interval_with_newest; 0: not known
  bool has_begun_ = false, has_saved_ = false, is_saving_ = false;
  std::uint64_t began_at_ = 0, step_ = 0, saved_step_ = 0;
};

}  // namespace cairn::schedule
