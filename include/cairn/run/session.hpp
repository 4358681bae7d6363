// SPDX-License-Identifier: MIT
// The implementation of a checkpointer: asks the policy, copies the state, and saves the copy in the background thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/chain/load.hpp"
#include "cairn/group/team.hpp"
#include "cairn/options.hpp"
#include "cairn/report.hpp"
#include "cairn/run/background_thread.hpp"
#include "cairn/run/policy_driver.hpp"
#include "cairn/run/rate_limiter.hpp"
#include "cairn/run/record.hpp"
#include "cairn/run/series.hpp"
#include "cairn/run/share_planner.hpp"
#include "cairn/run/staging.hpp"
#include "cairn/run/state_sum.hpp"
#include "cairn/run/vote.hpp"
#include "cairn/store/shard_metadata.hpp"
#include "cairn/system/clock.hpp"
#include "cairn/system/owner_process.hpp"

namespace cairn::inline v0_1::detail {

/// The background thread uses `series_`, `staging_`, and members that are thread-safe. The training thread uses `series_` and `staging_`
/// only while the background thread has no job, except for the functions of `series_` that any thread may call.
class session {
 public:
  /// errc::invalid for options that are out of range or would do nothing.
  session(any_store store, checkpointer_options options, std::optional<any_group> ranks = {});
  ~session();

  // See checkpointer.
  std::optional<load_report> restore(any_mutable_state state, const load_options& options);
  std::optional<load_report> restore_best(any_mutable_state state, std::optional<metric_order> order,
                                          const load_options& options);
  std::optional<load_report> restore_finite(any_mutable_state state, const load_options& options);
  step_outcome step(any_state state, const observation& now);
  save_report save(any_state state, const observation& now);
  [[nodiscard]] bool poll() const noexcept { return options_.preempt.received(); }
  void wait();
  void progress();
  [[nodiscard]] std::vector<std::uint64_t> steps() const { return series_.checkpoints().steps(); }
  /// Is this the process that has made the session? In a forked child, which has no background thread, it must not be destroyed.
  [[nodiscard]] bool is_owned() const noexcept { return owner_.is_here(); }
  [[nodiscard]] std::vector<removal> retention_plan();
  std::uint64_t remove_after(std::uint64_t step);
  [[nodiscard]] save_stats stats() const {
    check_owner();
    return record_.stats();
  }
  [[nodiscard]] const any_store& store() const noexcept { return series_.store(); }

 private:
  /// A save in the background.
  struct async_save {
    std::shared_ptr<save_job> job;
    std::optional<save_kind> kind;
    /// For the training thread. The background thread reads only `began`, which is set before its job starts.
    save_timeline times{};
    std::optional<state_sum> sum{};  // of the copy; for the background thread
    std::shared_ptr<save_progress> progress = std::make_shared<save_progress>();
  };

  /// A delta that was saved in the background: `save` does not write the same state again. In a group of ranks, `sum` is that of the share of this one.
  struct saved_delta {
    checkpoint_ref checkpoint;
    checkpoint_info info;
    std::uint64_t sum = 0;
    save_report report{};
  };

  /// Shards that are copied together, see core/piece.hpp; all of them if the memory for the copy is not limited.
  struct part {
    shards_of<staged_piece> shards;
    std::size_t shards_of_save = 0;
    bool is_first = true, is_last = true;
  };

  // In the training thread.
  void check_owner() const { owner_.check("this checkpointer"); }
  void enter(const std::string& call);
  std::optional<load_report> restore_by(any_mutable_state state, const std::optional<metric_order>& order,
                                        const load_options& options);
  void check_loss(const observation& now);
  void check_step(std::uint64_t step);
  void continue_at(std::uint64_t step);
  void continue_from(const std::optional<load_report>& report, any_state state, const load_options& options);
  void prepare(any_state state) noexcept;
  [[nodiscard]] std::optional<memory_fit> fit_save(const save_job& job, std::uint64_t copied, double share) const;
  [[nodiscard]] double part_to_encode(const save_job& job) const noexcept;
  [[nodiscard]] staging_plan plan_copy(const save_job& job) const;
  [[nodiscard]] std::size_t parts_of(const save_job& job);
  [[nodiscard]] std::uint64_t bytes_to_stage(any_state state);
  [[nodiscard]] std::shared_ptr<save_job> make_job(any_state state, const observation& now,
                                                   std::optional<save_kind> kind, bool ends_run);
  void note_losses(const load_report& report, any_state state, const load_options& options) noexcept;
  static void save_raw(save_job& job);
  [[nodiscard]] error failed(std::uint64_t step, const std::exception_ptr& cause);
  [[nodiscard]] decision decide(const observation& now);
  [[nodiscard]] double seconds_to_stop() const;
  [[nodiscard]] schedule::before_end advise_before_end();
  [[nodiscard]] step_outcome save_due(any_state state, const observation& now, std::optional<save_kind> kind);
  [[nodiscard]] bool resolve_busy(const observation& now);
  void report_skipped(const observation& now);
  [[nodiscard]] std::shared_ptr<async_save> save_async(any_state state, const observation& now,
                                                       std::optional<save_kind> kind);
  void stage(const std::shared_ptr<async_save>& save, const staging_plan& plan, const stopwatch& stall);
  save_report save_sync(any_state state, const observation& now, std::optional<save_kind> kind, bool ends_run);
  void set_background_hooks(save_job& job);
  /// `plan`: of a group of ranks.
  save_report run_sync(const std::shared_ptr<save_job>& job, std::optional<save_kind> kind, const stopwatch& stall,
                       const plan::partition* plan = nullptr);
  [[nodiscard]] step_outcome preempt(any_state state, const observation& now);
  [[nodiscard]] std::optional<save_report> find_same(const save_job& job);
  template <class Act>
  auto with_failures_counted(const Act& act);
  double stalled(const stopwatch& since);
  void collect_background_result();
  void learn();
  [[nodiscard]] bool is_retried(const error& failure) const;
  bool wait_for_background(std::chrono::duration<double> longest = std::chrono::duration<double>::max()) noexcept;
  void begin_background_work() noexcept;
  void report_hang() noexcept;

  // In the training thread, in a group of ranks (session_ranks.ipp).
  struct joint_save;
  [[nodiscard]] step_outcome step_together(any_state state, const observation& now);
  [[nodiscard]] std::optional<decision> decide_together(const observation& now, const verdict& last, vote& mine);
  [[nodiscard]] bool can_replace_joint_save() const;
  [[nodiscard]] bool skips_joint_save(const observation& now);
  void replace_joint_save();
  [[nodiscard]] step_outcome save_due_together(any_state state, const observation& now, std::optional<save_kind> kind,
                                               vote& mine);
  void copy_share(any_state state, const observation& now, std::optional<save_kind> kind, const stopwatch& stall);
  [[nodiscard]] step_outcome preempt_together(any_state state, const observation& now, const verdict& last);
  struct agreed_save;
  [[nodiscard]] agreed_save agree_on_save(any_state state, const observation& now, std::optional<save_kind> kind,
                                          bool ends_run);
  save_report save_now_together(any_state state, const observation& now, std::optional<save_kind> kind, bool ends_run);
  save_report save_together(any_state state, const observation& now);
  [[nodiscard]] std::optional<save_report> find_same_together(const save_job& job);
  void write_share(joint_save& all);
  void meet();
  void begin_round(const std::string& call, vote mine = {});
  [[nodiscard]] bool has_verdict() const noexcept { return deferred_ || ranks_.is_in_round(); }
  [[nodiscard]] verdict take_verdict();
  verdict end_round();
  void run_rounds(const std::string& call, double longest_seconds = std::numeric_limits<double>::max());
  void act_on(const verdict& last);
  void act_before_stop(const verdict& last);
  void obey(const verdict& last);
  void forget_chain() noexcept;
  void fail_together(const verdict& last);
  [[noreturn]] void refuse_differences();
  void run_share(const std::function<void(joint_save&)>& act);
  void join_joint_save(const std::string& begun);
  void publish_joint_save();
  void end_joint_save(std::uint64_t bytes);
  [[nodiscard]] bool begin_joint_merge();
  void end_joint_merge(std::uint64_t bytes);
  void note_later_failure(const joint_save& ended);
  void drop_joint_save(const error& cause);
  void end_rounds() noexcept;

  // In both.
  /// The sizes of a state that has been saved or restored are those of this run, and so are other ones in its checkpoints.
  [[nodiscard]] load_options for_restore(load_options options) const {
    if (has_run_) options.reshape = or_resize(std::move(options.reshape));
    return options;
  }
  [[nodiscard]] std::function<void(std::uint64_t, std::uint64_t)> progress_of(const save_job& job);
  [[nodiscard]] static save_kind kind_of(std::optional<save_kind> wanted, const save_report& report) noexcept {
    if (report.is_delta) return save_kind::delta;
    return wanted == save_kind::raw ? save_kind::raw : save_kind::whole;
  }
  // In the background thread.
  void run_async(async_save& save, const part& which);
  void tidy_up();
  [[nodiscard]] checkpoint_series::merge_hooks hooks_of_merge();
  std::optional<error> run_in_background(const std::function<bool()>& job);

  owner_process owner_;
  checkpointer_options options_;
  team ranks_;
  // Used by the training thread alone:
  policy_driver policy_;
  bool prepared_ = false;
  bool is_replacing_ = false;                      // the running save has replaced another one
  bool is_loss_finite_ = true;                     // of the newest step that has one
  bool is_hang_reported_ = false;                  // of the running save or merge
  std::optional<std::uint64_t> reported_skipped_;  // step of the running save for which "skipped" was already reported
  std::optional<std::uint64_t> preempted_step_;
  share_planner shares_;
  bool has_met_ = false;               // the ranks have compared their options
  std::unique_ptr<joint_save> joint_;  // the save or merge in the background of a group of ranks
  bool may_merge_ = true;              // false: the checkpointer is being destroyed, and cancels what is running
  std::optional<error> own_failure_;   // of this rank in a group, which the others do not know yet
  std::string call_;                   // whose round is under way, or was the last one
  vote own_vote_{};                    // in that round
  bool is_pausing_ = false;            // no save yet, after one that has failed: the same at all ranks
  std::optional<verdict> deferred_;    // of a round that has ended, and on which the ranks act at their next call
  bool is_stopping_ = false;           // some rank has received a signal, or the job ends soon: known to all
  std::optional<error>
      kept_failure_;      // of a save that is tried again, or before the one that a signal asked for; `wait` throws it
  int exceptions_ = 0;    // in flight when this was made
  bool has_run_ = false;  // it has saved or restored a state
  restored_losses earlier_losses_;  // what restores have lost, by path in the state
  // Used by both threads:
  run_record record_;
  std::atomic<bool> saving_{false};  // a save or a merge is running in the background
  // The checkpoint is published; what is left to do is to merge and to remove. Used by the background thread while it has a job.
  bool is_published_ = false;
  std::optional<saved_delta> newest_delta_;  // as above; in a group of ranks, used by the training thread alone
  rate_limiter limiter_;
  staging staging_;
  checkpoint_series series_;
  background_thread background_;  // declared last: it joins before anything that it uses is destroyed
};

}  // namespace cairn::inline v0_1::detail
