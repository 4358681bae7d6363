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

#include "cairn/background/pace.hpp"
#include "cairn/background/staging.hpp"
#include "cairn/background/worker.hpp"
#include "cairn/checkpointer_options.hpp"
#include "cairn/core/config.hpp"
#include "cairn/observation.hpp"
#include "cairn/place.hpp"
#include "cairn/save_stats.hpp"
#include "cairn/saver.hpp"

namespace cairn::detail {

/// What is behind a checkpointer. Members above the line are the trainer's; `saver_` and `staging_` belong to the thread behind while
/// that has a job, and to the trainer else.
class training_saver {
 public:
  /// errc::invalid for options that cannot be.
  training_saver(any_store store, checkpointer_options options);
  ~training_saver();

  // See checkpointer.
  std::optional<load_report> restore(any_state state, const load_options& options);
  step_outcome step(any_state state, const observation& now);
  save_report save(any_state state, const observation& now);
  [[nodiscard]] bool poll() const noexcept { return options_.preempt.received(); }
  void wait();
  [[nodiscard]] std::vector<removal> retention_plan();
  [[nodiscard]] save_stats stats() const;
  [[nodiscard]] const any_store& store() const noexcept { return saver_.store(); }

 private:
  /// How a state is cut so that the copies of its parts fit into the budget.
  struct staging_plan {
    division shards;
    std::uint64_t bytes = 0;  // of the largest copy
    bool in_parts = false;
  };

  // In the trainer's thread.
  [[nodiscard]] save_request request_of(any_state state, const observation& now) const;
  [[nodiscard]] staging_plan plan_staging(std::span<const leaf> leaves) const;
  void prepare(any_state state);
  [[nodiscard]] bool make_way(const observation& now);
  void start(any_state state, const observation& now);
  void began(std::uint64_t step);
  void copy_in_parts(std::shared_ptr<save_request> request, staging_plan plan, const std::function<void()>& copied);
  save_report save_here(save_request request);
  step_outcome stop(any_state state, const observation& now);
  void finish_before(double seconds_left, double needed);
  [[nodiscard]] double seconds_to_save(const save_request& request, bool as_raw) const;
  void rethrow_failure();

  // In the thread behind it.
  void save_behind(save_request& request);
  void tidy_up();

  // In either.
  void published(const save_report& report, std::uint64_t step, double seconds);
  template <class Job>
  void do_behind(const Job& job);
  void tell(const event& what);
  template <class Change>
  void count(const Change& change);

  checkpointer_options options_;
  stopwatch watch_;
  bool prepared_ = false;
  std::uint64_t started_step_ = 0;  // of the newest save that has begun
  double started_seconds_ = 0;
  bool is_replacing_ = false;  // the save on its way has taken another one's place
  std::optional<std::uint64_t>
      told_skipped_;  // the save on its way, when it was told that one was skipped for its sake
  std::optional<std::uint64_t> stopped_step_;
  // ---
  mutable std::mutex mutex_;  // of what comes next
  save_stats stats_;
  std::optional<error> failure_;  // of the thread behind; not thrown yet
  std::optional<save_report> newest_;
  std::optional<std::uint64_t> published_step_;
  double published_seconds_ = 0;
  std::mutex telling_;  // of what comes next
  std::uint64_t told_bytes_ = 0;
  std::atomic<bool> saving_{false};  // a save is on its way; merging counts
  pace pace_;
  staging staging_;
  saver saver_;
  worker worker_;  // goes first
};

}  // namespace cairn::detail

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/training_saver.ipp"  // IWYU pragma: keep
#endif
