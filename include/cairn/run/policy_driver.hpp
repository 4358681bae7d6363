// SPDX-License-Identifier: MIT
// Calls the policy of a checkpointer: measures times, asks it once per step, reports saves and restarts, and stores its
// memory in the checkpoints. Only `ask` throws what the policy throws; the other members report it as events. Plans the
// save before a deadline.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cairn/core/error.hpp"
#include "cairn/core/policy_memory.hpp"
#include "cairn/report.hpp"
#include "cairn/run/progress.hpp"
#include "cairn/schedule/base.hpp"
#include "cairn/schedule/reservation.hpp"
#include "cairn/store/level_set.hpp"
#include "cairn/system/clock.hpp"

namespace cairn::inline v0_1::detail {

/// The times of one save, by `policy_driver::seconds`. Of a checkpoint that was restored, only the step is known.
struct save_timeline {
  std::uint64_t step = 0;
  double began = 0;          // when the background work began; of a synchronous save: when it was published
  double copied = 0;         // when the last part was copied; later work is not in the checkpoint
  double stall_seconds = 0;  // that the trainer waited
};

/// Since when saves fail, and when to save again: after the time that the failed save took, or twice the time waited
/// before it if that is longer, but at most `longest` seconds; and once more when the patience with it ends, which is
/// `left` seconds away. Times are in seconds.
class retry_delay {
 public:
  static constexpr double longest = 600;

  void start_delay(double began, double now, std::optional<double> left = std::nullopt) noexcept {
    delay_ = std::min(std::max(now - began, 2 * delay_), longest);
    until_ = now + (left > 0.0 ? std::min(delay_, *left) : delay_);
    if (!since_) since_ = now;
  }
  /// Since the first failure; 0 before.
  [[nodiscard]] double failing_seconds(double now) const noexcept { return now - since_.value_or(now); }
  [[nodiscard]] bool is_over(double now) const noexcept { return now >= until_; }
  [[nodiscard]] double until() const noexcept { return until_; }

 private:
  double delay_ = 0, until_ = 0;
  std::optional<double> since_;
};

/// For the training thread alone.
class policy_driver {
 public:
  /// `store` is the path of the store, for events.
  policy_driver(any_policy chosen, std::string store)
      : chosen_(std::move(chosen)), policy_(chosen_), store_(std::move(store)) {}

  /// The copies to other places, which are told what the policy is told. They outlive the driver, or its last call.
  void set_copies(level_copies* copies) noexcept { copies_ = copies; }

  /// Since the run began or was restored.
  [[nodiscard]] double seconds() const { return watch_.seconds(); }

  /// RAII: its lifetime is excluded from the iteration time.
  class [[nodiscard]] pause {
   public:
    explicit pause(policy_driver& driver) noexcept : driver_(driver) {}
    pause(const pause&) = delete;
    pause& operator=(const pause&) = delete;
    ~pause() { driver_.training_since_ = driver_.seconds(); }

   private:
    policy_driver& driver_;
  };

  /// Whether to save after the step of `now`. Without a `pause` the next step begins at once.
  [[nodiscard]] decision ask(const observation& now, bool is_saving) {
    has_stepped_ = true;
    asked_ = seconds();
    const double since = std::exchange(training_since_, asked_);
    end_.stepped(asked_ - since);
    if (copies_ != nullptr) copies_->stepped(asked_ - since, is_saving);
    try {
      return policy_.should_save({.step = now.step,
                                  .seconds = asked_,
                                  .saved_step = newest_.step,
                                  .saved_seconds = newest_.copied,
                                  .loss = now.loss,
                                  .iteration_seconds = asked_ - since,
                                  .workers = now.workers,
                                  .is_saving = is_saving});
    } catch (...) {
      throw error(failure_of("should_save"));
    }
  }

  /// What is best `left` seconds before the job ends, if a save that is decided now is made `delay` steps later.
  [[nodiscard]] schedule::before_end advise(double left, double delay) {
    return end_.advise(left, seconds() - newest_.copied, delay);
  }

  /// The save of this step, or the newest save in the background, has failed: no save of a step may start until
  /// `may_save`, or until one is published.
  void delay_retry(bool in_background, std::optional<double> left = std::nullopt) {
    retry_.start_delay(in_background ? newest_.began : asked_, seconds(), left);
  }
  [[nodiscard]] bool may_save() const { return retry_.is_over(seconds()); }
  /// Since the first failure after which no save was published.
  [[nodiscard]] double failing_seconds() const { return retry_.failing_seconds(seconds()); }

  /// Sets the times of the newest save. Call it again when more of them are known.
  void set_newest(const save_timeline& save) noexcept { newest_ = save; }

  /// Reports the newest save to the policy once it is published. Returns whether it has.
  bool learn(run_record& record) {
    const auto newest = record.take_published();
    if (!newest) return false;
    retry_ = {};
    report(*newest, record);
    return true;
  }

  /// The newest save failed or was cancelled: the newest checkpoint is that of the record.
  void fall_back(const run_record& record) {
    const auto newest = record.newest();
    newest_ = newest ? save_timeline{.step = newest->step, .began = newest->seconds, .copied = newest->seconds}
                     : save_timeline{};
  }

  /// The run continues from a checkpoint: after a failure, unless the checkpoint was made with `ends_run`. A process
  /// that has made a step keeps what it has learned. A policy that throws is reset to the one that was chosen.
  void restored(const load_report& loaded, run_record& record) {
    restart how{.step = loaded.step,
                .restore_seconds = loaded.seconds,
                .links = loaded.links,
                .after_failure = false,
                .level = loaded.level};
    if (!has_stepped_) {
      const auto copied = recalled(loaded.notes, copied_at, 1), ended = recalled(loaded.notes, ended_run, 1);
      how.after_failure = !ended.empty() && ended[0] == 0;
      if (!copied.empty()) how.away_seconds = std::max(wall_clock() - copied[0], 0.0);
    }
    watch_ = {};
    training_since_ = 0;
    newest_ = {.step = loaded.step};
    retry_ = {};
    if (copies_ != nullptr) copies_->restarted(how, has_stepped_ ? policy_memory() : loaded.notes);
    std::string_view hook = "recall";
    try {
      if (!has_stepped_) policy_.recall(loaded.notes);
      hook = "restarted";
      policy_.restarted(how);
    } catch (...) {
      emit_failure(hook, loaded.step, record);
      try {
        policy_ = chosen_;
      } catch (...) {  // it cannot be copied, and keeps what it has learned
      }
    }
  }

  /// What the checkpoint of `step` keeps: what the policy remembers, nothing if it throws; and for `restarted`, when
  /// the state was copied and `ends_run`. Empty for a policy that remembers nothing and has no `restarted`, without
  /// copies to other places. `ends_run`: the trainer saved deliberately or was asked to stop, so a restart from that
  /// checkpoint is no failure.
  [[nodiscard]] policy_memory notes(std::uint64_t step, bool ends_run, run_record& record) const {
    policy_memory kept;
    try {
      kept = policy_.remember();
    } catch (...) {
      emit_failure("remember", step, record);
    }
    if (copies_ != nullptr) copies_->remember(kept);
    if (kept.empty() && !policy_.uses_restarts()) return kept;
    kept[copied_at] = {wall_clock()};
    kept[ended_run] = {ends_run ? 1.0 : 0.0};
    return kept;
  }

  [[nodiscard]] bool uses_steps_alone() const { return policy_.uses_steps_alone(); }

  /// Of the newest save that began, or of the checkpoint that was restored.
  [[nodiscard]] std::uint64_t saved_step() const noexcept { return newest_.step; }

 private:
  static constexpr const char* copied_at = "copied_at";  // seconds since 1970
  static constexpr const char* ended_run = "ended";      // 1 or 0; its name in stored checkpoints

  static double wall_clock() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  }

  /// What a hook of the policy has thrown, as an error that names the hook.
  static error failure_of(std::string_view hook) noexcept {
    const auto cause = as_error(std::current_exception(), {"exception"});
    try {
      return {cause.code(), sentence({"the policy's ", hook, " has failed: ", cause.sentence()})};
    } catch (...) {  // no memory
      return cause;
    }
  }
  void emit_failure(std::string_view hook, std::uint64_t step, run_record& record) const noexcept {
    const auto failure = failure_of(hook);
    try {
      record.emit({.what = event::kind::failed,
                   .checkpoint = store_,
                   .step = step,
                   .message = std::string(failure.sentence())});
    } catch (...) {  // no memory
    }
  }

  void report(const published_save& published, run_record& record) {
    if (!published.report || published.step != newest_.step) return;
    const auto& report = *published.report;
    const double awaited = newest_.copied - newest_.began;  // by the trainer: a part of `stall_seconds`
    const double background = published.synchronous ? 0 : std::max(report.seconds - awaited, 0.0);
    end_.saved(std::max(newest_.stall_seconds + background - published.held_back, 0.0));
    try {
      policy_.saved({.step = published.step,
                     .kind = published.kind,
                     .stall_seconds = newest_.stall_seconds,
                     .background_seconds = background,
                     .encode_seconds = report.encode_seconds,
                     .write_seconds = report.write_seconds,
                     .bytes = report.bytes,
                     .state_bytes = report.state_bytes});
    } catch (...) {
      emit_failure("saved", published.step, record);
    }
  }

  const any_policy chosen_;
  any_policy policy_;
  std::string store_;
  level_copies* copies_ = nullptr;  // null: none
  stopwatch watch_;
  double asked_ = 0;
  retry_delay retry_;
  double training_since_ = 0;
  save_timeline newest_;
  schedule::reservation end_;
  bool has_stepped_ = false;
};

/// In place of the number of a signal: the job ends soon (see `until`).
inline constexpr int time_limit = 1 << 16;

/// What asks the trainer to stop, for people.
[[nodiscard]] inline std::string reason_to_stop(int signal) {
  if (signal == time_limit) return "the time limit";
  return "signal " + std::to_string(signal) + ", " + ::strsignal(signal);
}

struct preempt_plan {
  double grace_seconds = 0;  ///< that the running save gets before it is cancelled
  bool as_raw = false;       ///< store the state raw: there is no time to encode it
};

/// A plan for `seconds_left`: the new save is taken to need as long as the newest one. The state is stored raw when
/// encoding would take too long and storing it raw would take less. The running save gets the time that the new one
/// does not need: half of it when there is no estimate, and all of it when it is too short for the new one anyway.
[[nodiscard]] inline preempt_plan plan_preempt(double seconds_left, const std::optional<published_save>& newest) {
  const double left = std::max(seconds_left, 0.0);
  if (!newest || !newest->report || newest->report->bytes == 0) return {.grace_seconds = left / 2};
  const auto& report = *newest->report;
  // The save after a signal is not limited to a number of bytes per second.
  const auto unlimited = [&](double seconds) { return std::max(seconds - newest->held_back, 0.0); };
  const double encoded = unlimited(report.seconds);
  const double raw =
      unlimited(report.write_seconds) * static_cast<double>(report.state_bytes) / static_cast<double>(report.bytes);
  preempt_plan plan{.as_raw = encoded > left && raw < encoded};
  const double needed = plan.as_raw ? raw : encoded;
  plan.grace_seconds = needed < left ? left - needed : left;
  return plan;
}

}  // namespace cairn::inline v0_1::detail
