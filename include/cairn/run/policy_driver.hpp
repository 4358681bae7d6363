// Drives the policy of a checkpointer: has the clock, asks once per step, tells of saves and restarts, and keeps what it has learned.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "cairn/report.hpp"
#include "cairn/system/clock.hpp"
#include "cairn/run/record.hpp"
#include "cairn/schedule/base.hpp"

namespace cairn::detail {

/// The trainer's thread alone calls it.
class policy_driver {
 public:
  explicit policy_driver(any_policy chosen) : policy_(std::move(chosen)) {}

  /// Whether to save after the step that `now` tells of. If not, the next step begins at once.
  [[nodiscard]] decision ask(const observation& now, bool is_saving) {
    has_stepped_ = true;
    const double seconds = watch_.seconds(), since = std::exchange(training_since_, seconds);
    return policy_.should_save({.step = now.step,
                                .seconds = seconds,
                                .saved_step = saved_step_,
                                .saved_seconds = saved_seconds_,
                                .loss = now.loss,
                                .iteration_seconds = seconds - since,
                                .workers = now.workers,
                                .is_saving = is_saving});
  }

  /// The trainer goes on with its next step only now.
  void resume_training() { training_since_ = watch_.seconds(); }

  /// A save of the state after this step has begun.
  void began(std::uint64_t step) {
    saved_step_ = step;
    saved_seconds_ = watch_.seconds();
    awaited_seconds_ = 0;
  }
  /// The trainer has waited for a part of the work of the save that began last, and waits no longer.
  void awaited() {
    const double now = watch_.seconds();
    awaited_seconds_ += now - saved_seconds_;
    saved_seconds_ = now;
  }
  /// The trainer has waited so long for the save that began last.
  void waited(double seconds) noexcept { stall_seconds_ = seconds; }

  /// The save that began last is published.
  void published(const published_save& newest) {
    if (!newest.report || newest.step != saved_step_) return;
    const auto& report = *newest.report;
    policy_.saved({.step = newest.step,
                   .kind = newest.kind,
                   .stall_seconds = stall_seconds_,
                   .background_seconds = newest.in_front ? 0 : std::max(report.seconds - awaited_seconds_, 0.0),
                   .encode_seconds = report.encode_seconds,
                   .write_seconds = report.write_seconds,
                   .bytes = report.bytes,
                   .state_bytes = report.state_bytes});
  }
  /// The save that began last has come to nothing: this one is the newest.
  void fall_back(const published_save& newest) noexcept {
    saved_step_ = newest.step;
    saved_seconds_ = newest.seconds;
  }

  /// The run goes on from a checkpoint: after a failure, unless that checkpoint was the end of a run in peace. What this process has
  /// learned itself is not replaced by what an earlier one had.
  void restored(const load_report& report) {
    restart how{.step = report.step, .restore_seconds = report.seconds, .after_failure = false};
    const auto copied = report.notes.find(copied_at), peace = report.notes.find(in_peace);
    const auto is_number = [&](auto kept) { return kept != report.notes.end() && kept->second.size() == 1; };
    if (!has_stepped_) {
      policy_.recall(report.notes);
      how.after_failure = is_number(peace) && peace->second[0] == 0;
      const double away = is_number(copied) ? wall_clock() - copied->second[0] : 0;
      if (away > 0 && std::isfinite(away)) how.away_seconds = away;
    }
    watch_ = {};
    training_since_ = 0;
    saved_step_ = report.step;
    saved_seconds_ = 0;
    policy_.restarted(how);
  }

  /// What the next checkpoint keeps: nothing of a policy that remembers nothing. `may_be_last`: the run may end with it.
  [[nodiscard]] policy_memory notes(bool may_be_last) const {
    auto kept = policy_.remember();
    if (kept.empty()) return kept;
    kept[copied_at] = {wall_clock()};
    kept[in_peace] = {may_be_last ? 1.0 : 0.0};
    return kept;
  }

  [[nodiscard]] std::uint64_t saved_step() const noexcept { return saved_step_; }
  [[nodiscard]] double saved_seconds() const noexcept { return saved_seconds_; }

 private:
  static constexpr const char* copied_at = "copied_at";  // seconds since 1970
  static constexpr const char* in_peace = "in_peace";

  static double wall_clock() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  }

  any_policy policy_;
  stopwatch watch_;
  double training_since_ = 0;
  std::uint64_t saved_step_ = 0;  // of the save that began last, or the step of the checkpoint that was restored
  double saved_seconds_ = 0;
  double stall_seconds_ = 0;
  double awaited_seconds_ = 0;  // of the stall: for work that is behind the training else
  bool has_stepped_ = false;
};

}  // namespace cairn::detail
