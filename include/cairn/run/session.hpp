// SPDX-License-Identifier: MIT
// The implementation of a checkpointer: asks the policy, copies the state, and has it saved.
//
// session.ipp has what the trainer calls, session_save.ipp how a save is made, session_work.ipp its phases and those of
// a merge (work.hpp), session_votes.ipp how the ranks of a group go through them together.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
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
#include "cairn/run/history.hpp"
#include "cairn/run/share_planner.hpp"
#include "cairn/run/staging.hpp"
#include "cairn/run/vote.hpp"
#include "cairn/run/work.hpp"
#include "cairn/system/clock.hpp"
#include "cairn/system/owner_process.hpp"

namespace cairn::inline v0_1::detail {

/// The training thread uses all members; while the background thread has a job, it uses those alone that are marked.
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
  [[nodiscard]] std::vector<std::uint64_t> steps() const { return history_.checkpoints().steps(); }
  /// Is this the process that made the session? A forked child has no background thread, and must not destroy it.
  [[nodiscard]] bool is_owned() const noexcept { return owner_.is_here(); }
  [[nodiscard]] std::vector<removal> retention_plan();
  std::uint64_t remove_after(std::uint64_t step);
  [[nodiscard]] save_stats stats() const {
    check_owner();
    return record_.stats();
  }
  [[nodiscard]] const any_store& store() const noexcept { return history_.store(); }

 private:
  // What the trainer calls (session.ipp).
  void check_owner() const { owner_.check("this checkpointer"); }
  /// Waits for what is under way, and throws its error. In a group, `call` is the same at all ranks, or all throw.
  void enter(const std::string& call) {
    check_owner();
    run_rounds(call);
  }
  std::optional<load_report> restore_by(any_mutable_state state, const std::optional<metric_order>& order,
                                        const load_options& options);
  /// The sizes of a saved or restored state are those of this run, and so are other ones in its checkpoints.
  [[nodiscard]] load_options for_restore(load_options options) const {
    if (has_run_) options.reshape = or_resize(std::move(options.reshape));
    return options;
  }
  void continue_from(const std::optional<load_report>& report, any_state state, const load_options& options);
  void continue_at(std::uint64_t step);
  void note_losses(const load_report& report, any_state state, const load_options& options) noexcept;
  void check_loss(const observation& now);
  void check_step(std::uint64_t step);
  [[nodiscard]] double seconds_to_stop() const;
  [[nodiscard]] schedule::before_end advise_before_end();
  [[nodiscard]] decision decide(const observation& now);
  [[nodiscard]] std::optional<decision> decide_together(const observation& now, const verdict& last, vote& mine);
  [[nodiscard]] step_outcome save_due(any_state state, const observation& now, std::optional<save_kind> kind,
                                      vote& mine);
  [[nodiscard]] step_outcome preempt(any_state state, const observation& now, const verdict& last);
  double stalled(const stopwatch& since);

  // A save or merge (session_work.ipp).
  [[nodiscard]] std::shared_ptr<save_job> describe_job(any_state state, const observation& now);
  void choose_how(save_job& job, std::optional<save_kind> kind, bool ends_run);
  [[nodiscard]] std::unique_ptr<work> make_save(std::shared_ptr<save_job> job, std::optional<save_kind> kind,
                                                bool ends_run);
  void divide(work& save);
  void copy(std::unique_ptr<work> save, any_state state, const observation& now, const stopwatch& stall);
  void stage(const staging_plan& plan, const stopwatch& stall);
  std::shared_ptr<save_progress> save_now(std::unique_ptr<work> save, const stopwatch& stall);
  [[nodiscard]] error failed(std::uint64_t step, const std::exception_ptr& cause);
  void set_background_hooks(save_job& job);
  [[nodiscard]] std::function<void(std::uint64_t, std::uint64_t)> progress_of(const save_job& job);
  [[nodiscard]] bool is_skipping(const observation& now);
  [[nodiscard]] bool can_replace() const;
  void replace_work();
  void report_skipped(const observation& now);
  void report_hang() noexcept;
  template <class Phase>
  void run(Phase phase);
  /// Does one job of the background thread run all phases of the present work?
  [[nodiscard]] bool runs_through() const noexcept { return ranks_.is_alone() && work_ && !work_->is_sync; }
  void start();
  void drop_work(const error& cause);
  void cancel_work(const std::string& why);
  void end_work() noexcept;
  void wait_for_background() noexcept;
  // Its phases, of which any thread that has the work may run one.
  void make_part(work& all);
  void begin(work& all);
  void join(work& all, const std::string& begun);
  void write(work& all);
  void publish(work& all, std::span<const std::string> records);
  void run_through(work& all);
  void published(work& all);
  void count_save(work& save);
  [[nodiscard]] bool begin_merge(work& all);
  [[nodiscard]] error failure_of(const work& all) const noexcept;
  void fail_work(work& all, const error& cause) noexcept;
  static void end_handle(const work& all) noexcept;

  // Memory (session_memory.ipp).
  void prepare(any_state state) noexcept;
  [[nodiscard]] std::optional<memory_fit> fit_save(const save_job& job, std::uint64_t copied, double share) const;
  [[nodiscard]] bool has_memory_to_encode(const save_job& job) const noexcept;
  [[nodiscard]] staging_plan plan_copy(const work& save) const;
  [[nodiscard]] std::size_t parts_of(const save_job& job);
  [[nodiscard]] std::uint64_t bytes_to_stage(any_state state);

  // Votes (session_votes.ipp).
  void meet();
  void begin_round(const std::string& call, vote mine = {});
  [[nodiscard]] bool has_verdict() const noexcept { return deferred_ || ranks_.is_in_round(); }
  [[nodiscard]] verdict take_verdict();
  verdict end_round();
  void run_rounds(const std::string& call, double longest_seconds = std::numeric_limits<double>::max());
  void end_rounds() noexcept;
  void act_on(const verdict& last);
  void act_before_stop(const verdict& last);
  void obey(const verdict& last);
  void advance(const verdict& last);
  void fail_together(const verdict& last);
  [[noreturn]] void refuse_differences();
  void learn();

  owner_process owner_;
  checkpointer_options options_;
  team ranks_;
  policy_driver policy_;
  share_planner shares_;
  bool prepared_ = false;       // the memory for the copy
  bool has_run_ = false;        // it has saved or restored a state
  bool is_loss_finite_ = true;  // of the newest step that has one
  std::optional<std::uint64_t> preempted_step_;
  restored_losses earlier_losses_;               // what restores have lost, by path in the state
  int exceptions_ = std::uncaught_exceptions();  // in flight when this was made
  // The work. The background thread uses it while it has a job.
  staging staging_;
  history history_;
  std::unique_ptr<work> work_;  // null: none is under way
  bool is_replacing_ = false;   // the running save has replaced another one
  // The votes.
  bool has_met_ = false;               // the ranks have compared their options
  std::string call_;                   // whose round is under way, or was the last one
  vote own_vote_{};                    // in that round
  std::optional<verdict> deferred_;    // of a round that has ended, and on which the ranks act at their next call
  bool is_pausing_ = false;            // no save yet, after one that has failed: the same at all ranks
  std::optional<error> own_failure_;   // of this rank, which the others do not know yet
  std::optional<error> kept_failure_;  // of a save that is tried again, or before the one at a signal: `wait` throws it
  // Any thread.
  std::atomic<bool> is_stopping_{false};  // some rank has received a signal, or the job ends soon: known to all
  std::atomic<bool> may_merge_{true};     // false: the checkpointer is being destroyed, and cancels what is running
  run_record record_;
  rate_limiter limiter_;
  background_thread background_;  // declared last: it joins before anything that it uses is destroyed
};

}  // namespace cairn::inline v0_1::detail
