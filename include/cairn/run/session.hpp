// Saves a state while it is trained: copies it, hands the copy to the thread behind the training, and keeps both sides in step.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "cairn/run/rate_limiter.hpp"
#include "cairn/run/staging.hpp"
#include "cairn/run/background_thread.hpp"
#include "cairn/options.hpp"
#include "cairn/core/config.hpp"
#include "cairn/report.hpp"
#include "cairn/run/policy_driver.hpp"
#include "cairn/run/record.hpp"
#include "cairn/run/series.hpp"
#include "cairn/system/clock.hpp"

namespace cairn::detail {

/// What is behind a checkpointer. Members above the line are the trainer's; below it `series_` and `staging_` belong to the thread
/// behind while that has a job, and to the trainer else, and the others are for both.
class session {
 public:
  /// errc::invalid for options that cannot be.
  session(any_store store, checkpointer_options options);
  ~session();

  // See checkpointer.
  std::optional<load_report> restore(any_mutable_state state, const load_options& options);
  step_outcome step(any_state state, const observation& now);
  save_report save(any_state state, const observation& now);
  [[nodiscard]] bool poll() const noexcept { return options_.preempt.received(); }
  void wait() {
    background_.wait();
    rethrow_failure();
  }
  [[nodiscard]] std::vector<removal> retention_plan() {
    background_.wait();
    return series_.retention_plan();
  }
  [[nodiscard]] save_stats stats() const { return record_.stats(); }
  [[nodiscard]] const any_store& store() const noexcept { return series_.store(); }

 private:
  // In the trainer's thread.
  void prepare(any_state state);
  [[nodiscard]] bool make_way(const observation& now);
  [[nodiscard]] step_outcome save_now(any_state state, const observation& now, std::optional<save_kind> kind);
  void start(any_state state, const observation& now, std::optional<save_kind> kind);
  void save_behind(std::shared_ptr<save_request> request);
  void copy_in_parts(std::shared_ptr<save_request> request, division parts, const std::function<void()>& copied);
  save_report save_in_front(any_state state, const observation& now, std::optional<save_kind> kind, bool may_be_last);
  save_report save_here(save_request request);
  step_outcome stop(any_state state, const observation& now);
  [[nodiscard]] std::function<void(std::uint64_t, std::uint64_t)> tell_progress(const event& about);
  double stalled(const stopwatch& since);
  void learn();
  void rethrow_failure();

  // In the thread behind it.
  void save_copy(save_request& request, double begun);
  void tidy_up();
  void prune();
  void do_behind(const std::function<void()>& job);

  checkpointer_options options_;
  policy_driver policy_;
  bool prepared_ = false;
  bool is_replacing_ = false;                  // the save on its way has taken another one's place
  std::optional<std::uint64_t> told_skipped_;  // the save for whose sake it was told that one is skipped
  std::optional<std::uint64_t> stopped_step_;
  // ---
  run_record record_;
  std::atomic<bool> saving_{false};  // a save is on its way; merging counts
  rate_limiter limiter_;
  staging staging_;
  checkpoint_series series_;
  background_thread background_;  // declared last: it joins before anything that it uses is destroyed
};

}  // namespace cairn::detail

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/run/session.ipp"             // IWYU pragma: keep
#include "cairn/run/session_background.ipp"  // IWYU pragma: keep
#endif
