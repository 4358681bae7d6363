// SPDX-License-Identifier: MIT
// The implementation of a checkpointer: asks the policy, copies the state, and has it saved.
//
// session.ipp has what the trainer calls, session_save.ipp how a save is made, session_work.ipp its phases and those of
// a merge, and how the ranks of a group go through them together, session_copies.ipp the copies to other places. All of
// a save or merge is its `work`:
//
//   (none) --> copied --> writing --> prepared --> publishing --> (none), or the merge that is due: copied
//                |           |           |             |
//                +-----------+-----------+-------------+--> failed or cancelled: (none)
//
// In a group on disks of hosts: publishing --> placing --> placed --> [sending --> sent -->] tidying --> tidied -->
// (none). The phases prepared, placed, sent and tidied occur in votes alone.
//
// `start` begins it, `advance` goes on, `fail_work`, `drop_work` and `cancel_work` end it early, `end_work` at its end.
//
// - copied: `shards` are the copy of what this process writes, or lie in the state's memory where the trainer waits.
//   The leader begins the checkpoint: afterwards it has `begun`, the text that the others need to join it.
// - writing: the others join; each process encodes and writes its shards. Afterwards it has the `record` of them.
// - prepared: they are written, and nothing can be seen of them. Each process finds that out when it votes.
// - publishing: the leader unites the records of all, and publishes. Afterwards it has the `announcement`.
// - placing: the others publish what they have written, with the index of the leader. Then the checkpoint is there.
// - sending: each rank sends its shard, or parts of it, to ranks on other hosts.
// - tidying: each rank removes what the leader does not keep.
//
// The phases run in the background thread, or in the training thread where the trainer waits for the save. Between them
// the training thread of each process votes, and all start the next phase on the same verdict. A process without a
// group needs no votes: its background thread begins and writes in one job, or in one for each part of a copy in parts;
// the last one goes on to publish and to merge (session::finish_alone).
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cairn/chain/attempt.hpp"
#include "cairn/chain/load.hpp"
#include "cairn/group/team.hpp"
#include "cairn/options.hpp"
#include "cairn/run/background_thread.hpp"
#include "cairn/run/history.hpp"
#include "cairn/run/policy_driver.hpp"
#include "cairn/run/progress.hpp"
#include "cairn/run/shares.hpp"
#include "cairn/run/staging.hpp"
#include "cairn/schedule/base.hpp"
#include "cairn/system/clock.hpp"
#include "cairn/system/owner_process.hpp"

namespace cairn::inline v0_1::detail {

/// How far this process is with the work.
enum class save_phase : std::uint8_t {
  none,
  copied,    ///< the share of the rank is copied
  writing,   ///< the share is encoded and written in the background
  prepared,  ///< the share is written
  publishing,
  placing,  ///< the other ranks publish their shards
  placed,
  sending,  ///< the shards are sent to other hosts
  sent,
  tidying,  ///< what is not kept is removed
  tidied
};

/// The vote of a rank that is done with a phase.
[[nodiscard]] inline save_phase end_of(save_phase phase) noexcept {
  switch (phase) {
    case save_phase::writing:
      return save_phase::prepared;
    case save_phase::placing:
      return save_phase::placed;
    case save_phase::sending:
      return save_phase::sent;
    case save_phase::tidying:
      return save_phase::tidied;
    default:
      return phase;
  }
}

/// In place of the hash of a copy: the rank copies its state if the others do, or its copy has failed.
inline constexpr std::uint64_t will_copy = 1;

/// What one rank reports in a call: every rank votes, and all derive the same verdict. Whole numbers alone, so that one
/// reduction combines all votes.
struct vote {
  std::uint64_t call = 0;  ///< hash of the call and its step
  /// agreement_hash of the save that this rank has copied in this call; 0: it has copied none; or `will_copy`.
  std::uint64_t copied = 0;
  std::uint64_t phase = 0;        ///< save_phase
  std::uint64_t has_failed = 0;   ///< its part of the running save
  std::uint64_t has_thrown = 0;   ///< something else in this call
  std::uint64_t copies_done = 0;  ///< level_copies::done
  std::uint64_t leaving = 0;      ///< ranks minus own rank if it left by an exception; 0: not
  std::uint64_t signal = 0;       ///< that asks to stop, or `time_limit`; 0: none
  /// With `signal`: time until the state must be saved.
  std::uint64_t milliseconds_left = std::numeric_limits<std::uint64_t>::max();

  // Of the leader, rank 0, alone:
  std::uint64_t save = 0;        ///< all copy the state in the next call: 1 as the options say, else 2 + save_kind
  std::uint64_t saves_copy = 0;  ///< the copies of this call are to be saved
  std::uint64_t pauses = 0;      ///< it makes no save yet, after one that has failed
  std::uint64_t begun = 0;       ///< bytes of the text that the others need to join the checkpoint; 0: not begun yet
  std::uint64_t announced = 0;  ///< bytes of the text by which the others learn of the checkpoint; 0: not published yet
  std::uint64_t cancels = 0;    ///< the running save is to end
  std::uint64_t asks = 0;       ///< bytes of level_copies::request
};

/// What all ranks know after a call: the largest and the least of each number over all votes.
struct verdict {
  vote most{}, least{};

  [[nodiscard]] bool is_same_call() const noexcept { return most.call == least.call; }
  [[nodiscard]] bool is_same_copy() const noexcept { return most.copied == least.copied; }
  /// The phase that all ranks have reached.
  [[nodiscard]] save_phase slowest() const noexcept { return static_cast<save_phase>(least.phase); }
  [[nodiscard]] std::optional<decision> save() const {
    if (most.save < 2) return most.save == 0 ? std::nullopt : std::optional(decision(true));
    return decision(true, static_cast<save_kind>(most.save - 2));
  }
};

/// A vote and the complements of its numbers: the largest of all ballots are the largest and the least of all votes.
using ballot = std::array<std::uint64_t, sizeof(verdict) / sizeof(std::uint64_t)>;

[[nodiscard]] inline ballot with_complements(ballot all) noexcept {
  for (auto& number : std::span(all).last(all.size() / 2)) number = ~number;
  return all;
}
[[nodiscard]] inline ballot fill_ballot(const vote& mine) noexcept {
  return with_complements(std::bit_cast<ballot>(verdict{mine, mine}));
}
[[nodiscard]] inline verdict read_ballots(std::span<const std::uint64_t> largest) noexcept {
  ballot all{};
  std::ranges::copy(largest, all.begin());
  return std::bit_cast<verdict>(with_complements(all));
}

/// While a job runs (`is_done` is false), the members belong to it, but for those that are marked.
struct work {
  // For the training thread; a job only reads `is_sync`, `kind` and `times.began`, which are set before it starts:
  bool is_sync = false;  // the trainer waits for it
  save_phase phase = save_phase::copied;
  save_timeline times{};
  std::optional<save_kind> kind{};  // that the policy has chosen
  bool is_hang_reported = false;    // of the save or merge
  bool is_skip_reported = false;    // that others are skipped because of it

  std::shared_ptr<save_job> job{};                // of a save
  rank_share share{};                             // what this process writes of it, in a group
  std::uint64_t hash = 0;                         // that all ranks of a group must have in common: agreement_hash
  shards_of<staged_piece> shards{};               // what is written next
  std::size_t shards_of_save = 0;                 // of this process, in all
  bool one_by_one = false;                        // each shard is written before the next one is encoded
  std::unique_ptr<save_source> state_source{};    // of a save
  std::unique_ptr<merge_source> merged_source{};  // of a merge
  std::optional<detail::attempt> attempt{};
  std::string begun{}, record{}, announcement{};
  std::optional<published_checkpoint> made{};
  shared_report report{};           // of the published save; during the merge after it, too
  bool is_published = false;        // the save, and all ranks know it
  std::optional<error> failure{};   // of the save or merge
  bool has_ended = false;           // its failure is reported
  bool is_sent = false;             // other hosts have got what this rank sends
  std::atomic<bool> is_done{true};  // no job of it runs. Any thread
  std::shared_ptr<save_result> result = std::make_shared<save_result>();  // for its handles. Any thread

  [[nodiscard]] bool is_merge() const noexcept { return merged_source != nullptr; }
  [[nodiscard]] bool has_failed() const noexcept { return is_done && failure; }
  /// What holds between two jobs of a work that ranks vote on, or that the trainer waits for.
  [[nodiscard]] bool holds() const noexcept {
    if (!is_done || failure) return true;
    if (!job && !merged_source) return false;
    if (phase == save_phase::copied) return announcement.empty();
    if (phase == save_phase::writing || phase == save_phase::placing) return attempt && shards.empty();
    if (phase == save_phase::sending || phase == save_phase::tidying) return is_published && !attempt;
    return phase == save_phase::publishing && (announcement.empty() || made);
  }
};

/// `staging_` and `history_` belong to the background thread while it has a job, members under "Any thread" are
/// thread-safe, and all others are for the training thread alone, unless they never change.
class session {
 public:
  /// errc::invalid for options that are out of range or would do nothing.
  session(any_store store, checkpointer_options options, std::optional<any_group> ranks = {});
  ~session();

  // See checkpointer.
  std::optional<load_report> restore(const std::string& call, const restore_choice& choice, any_mutable_state state,
                                     const load_options& options);
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
    auto all = record_.stats();
    if (const auto* const copies = history_.copies()) all.levels = copies->stats();
    return all;
  }
  [[nodiscard]] const any_store& store() const noexcept { return history_.store(); }

 private:
  // What the trainer calls (session.ipp).
  void check_owner() const { owner_.check("this checkpointer"); }
  void meet();
  /// Waits for what is under way, and throws its error. In a group, `call` is the same at all ranks, or all throw.
  void enter(const std::string& call) {
    check_owner();
    run_rounds(call);
  }
  void continue_at(std::uint64_t step);
  void note_losses(const load_report& report, any_state state, const load_options& options) noexcept;
  void check_loss(const observation& now);
  void check_step(std::uint64_t step);
  [[nodiscard]] double seconds_to_stop() const;
  [[nodiscard]] schedule::before_end advise_before_end();
  [[nodiscard]] double seconds_of_copies() const;
  [[nodiscard]] decision decide(const observation& now);
  [[nodiscard]] std::optional<decision> decide_together(const observation& now, const verdict& last, vote& mine);
  [[nodiscard]] step_outcome save_due(any_state state, const observation& now, std::optional<save_kind> kind,
                                      vote& mine);
  [[nodiscard]] step_outcome preempt(any_state state, const observation& now, const verdict& last);
  double stalled(const stopwatch& since);

  // A save (session_save.ipp).
  [[nodiscard]] std::shared_ptr<save_job> describe_job(any_state state, const observation& now);
  void choose_how(save_job& job, std::optional<save_kind> kind, bool ends_run);
  [[nodiscard]] std::unique_ptr<work> make_sync_save(std::shared_ptr<save_job> job, std::optional<save_kind> kind,
                                                     bool ends_run);
  void divide(work& save);
  void copy(std::unique_ptr<work> save, any_state state, const observation& now, const stopwatch& stall);
  void stage(const staging_plan& plan, const stopwatch& stall);
  std::shared_ptr<save_result> save_now(std::unique_ptr<work> save, const stopwatch& stall);
  [[nodiscard]] error report_failure(std::uint64_t step, const std::exception_ptr& cause);
  [[nodiscard]] std::function<void(std::uint64_t, std::uint64_t)> progress_of(const save_job& job);
  [[nodiscard]] bool is_skipping(const observation& now);
  [[nodiscard]] bool can_replace() const;
  void report_skipped(const observation& now);
  void reserve_staging(any_state state) noexcept;
  [[nodiscard]] std::optional<memory_fit> fit_save(const work& save, std::uint64_t copied, double part = 1) const;
  [[nodiscard]] staging_plan plan_copy(const work& save) const;
  [[nodiscard]] std::size_t cut_for_memory(const work& save);

  // The work, and what runs it (session_work.ipp).
  template <class Phase>
  void start_phase(Phase phase, bool needs_messages = false);
  /// Does the background thread go through all phases of the present work by itself?
  [[nodiscard]] bool needs_no_votes() const noexcept { return ranks_.is_alone() && work_ && !work_->is_sync; }
  [[nodiscard]] error failure_of(const work& current) const noexcept;
  void start();
  // Its phases, of which any thread that has the work may run one.
  void begin(work& current);
  void join(work& current, const std::string& begun);
  void make_attempt(work& current);
  void write(work& current);
  void publish(work& current, std::span<const std::string> records);
  void complete(work& current);
  void remove_unkept(const std::vector<std::string>& kept);
  void note_published(work& current);
  void count_save(work& save);
  void finish_alone(work& current);
  [[nodiscard]] bool begin_merge(work& current);
  // How it ends.
  void fail_work(work& current, const error& cause) noexcept;
  static void end_handle(const work& current) noexcept;
  void drop_work(const error& cause);
  void cancel_work(const std::string& why);
  void end_work() noexcept;
  void wait_for_background() noexcept;
  void report_hang() noexcept;

  // The votes on it.
  void begin_round(const std::string& call, vote mine = {});
  [[nodiscard]] bool has_verdict() const noexcept { return deferred_ || ranks_.is_in_round(); }
  [[nodiscard]] verdict take_verdict();
  /// Waits for the round, and acts on its verdict.
  void end_round() { act_on(take_verdict()); }
  void run_rounds(const std::string& call, double longest_seconds = std::numeric_limits<double>::max(),
                  bool until_stop = false);
  void act_on(const verdict& last);
  void act_before_stop(const verdict& last);
  void obey(const verdict& last);
  void advance(const verdict& last);
  void continue_published(work& current);
  void place(work& current);
  void send(work& current);
  void tidy(work& current);
  void fail_together(const verdict& last);
  void learn();
  [[noreturn]] void refuse_differences();
  void end_rounds() noexcept;

  // The copies to other places (session_copies.ipp).
  [[nodiscard]] bool complete_copies(double seconds);
  void complete_copies_before(double seconds, std::uint64_t step);
  void pass_requests(const verdict& last);
  void pass_messages();
  /// The checkpointer, as all ranks name it in a call.
  [[nodiscard]] std::string place_of_call() const {
    return common_location(store()) + (history_.hosts() && has_met_ ? " " + history_.hosts()->token() : "");
  }
  [[nodiscard]] bool is_sending() const { return history_.hosts() && history_.hosts()->is_sending(); }

  owner_process owner_;
  checkpointer_options options_;
  team ranks_;
  policy_driver policy_;
  share_planner shares_;
  bool is_staging_reserved_ = false;
  bool has_run_ = false;        // it has saved or restored a state
  bool is_loss_finite_ = true;  // of the newest step that has one
  std::optional<std::uint64_t> preempted_step_;
  restored_losses earlier_losses_;               // what restores have lost, by path in the state
  int exceptions_ = std::uncaught_exceptions();  // in flight when this was made
  run_record record_;                            // any thread
  rate_limiter limiter_;                         // any thread
  // The work.
  staging staging_;
  history history_;
  std::unique_ptr<work> work_;  // null: none is under way
  bool is_replacing_ = false;   // the running save has replaced another one
  std::string request_;         // of the newest vote, see pass_requests
  std::uint64_t answered_ = 0;  // the last request that all ranks are done with
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
  background_thread background_;          // declared last: it joins before anything that it uses is destroyed
};

}  // namespace cairn::inline v0_1::detail
