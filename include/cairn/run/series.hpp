// SPDX-License-Identifier: MIT
// The checkpoints of one run in their store: restores, saves and merges them, and keeps track of the chain of deltas.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/chain/delta_base.hpp"
#include "cairn/chain/merge_hook.hpp"
#include "cairn/chain/save_job.hpp"
#include "cairn/chain/save_pipeline.hpp"
#include "cairn/core/error.hpp"
#include "cairn/core/piece.hpp"
#include "cairn/encode/choice.hpp"
#include "cairn/event.hpp"
#include "cairn/group/team.hpp"
#include "cairn/options.hpp"
#include "cairn/report.hpp"
#include "cairn/run/share_planner.hpp"
#include "cairn/state/any_state.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/store/retention.hpp"
#include "cairn/store/shard_metadata.hpp"

namespace cairn::inline v0_1::detail {

/// Not thread-safe, except where it says "any thread".
class checkpoint_list {
 public:
  /// All must outlive the list.
  checkpoint_list(any_store& store, const checkpointer_options& options, const observer& on_event)
      : store_(store), options_(options), on_event_(on_event) {}

  /// Names and steps of the checkpoints that are named by step, ascending. Any thread.
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] std::vector<std::uint64_t> steps() const;

  /// The step of the newest checkpoint that no restore has passed over; 0 if there is none. The first call, and the first one after `refresh`
  /// or `failed`, lists the store: errc::io.
  [[nodiscard]] std::uint64_t newest_step();
  /// As above. But later checkpoints than `step` count only if their index, which this reads, does not say that they are of another step than
  /// their name.
  [[nodiscard]] std::uint64_t newest_step_for(std::uint64_t step);
  /// Whether the run has restored or saved this step last.
  [[nodiscard]] bool has_run_at(std::uint64_t step) const noexcept { return run_step_ == step; }
  /// The store may have changed: forgets what is known of it.
  void refresh() noexcept {
    newest_step_.reset();
    known_.clear();
  }
  /// A failed save may still have published its checkpoint, if only the last sync failed. It then counts as the run's own, unless a checkpoint of its
  /// step or later was there before.
  void failed(const save_job& job) {
    if (newest_step_ && *newest_step_ < job.info.step) run_step_ = job.info.step;
    newest_step_.reset();
    known_.erase(job.name);
  }

  /// Throws errc::stale for a step below `newest`: a restore would prefer that checkpoint. Any thread.
  void refuse_earlier(std::uint64_t step, std::uint64_t newest) const;

  /// Before a save of `step`: if the run does not continue from the newest checkpoint, does what `on_older_step` says, which may be to remove
  /// checkpoints.
  void make_way(std::uint64_t step);

  /// Adds the published checkpoint, or replaces it.
  void saved(const save_job& job, const save_report& report);
  /// The checkpoint `name` has been replaced by its merged form.
  void merged(const std::string& name, const merge_report& report);
  /// The run continues from the restored checkpoint, or anew. The skipped ones do not count from now on, until they are replaced or restored.
  void restored(const std::optional<load_report>& report);

  /// What no rule keeps. Throws errc::io if an index cannot be read, and errc::unsupported for one of another format version.
  [[nodiscard]] std::vector<removal> retention_plan();

  /// Removes what no rule keeps and returns the number of removed checkpoints. What cannot be removed is reported as an event.
  std::uint64_t prune();

  /// Removes the checkpoints that are later than `step`, or all, newest first, and returns their number. errc::invalid, before anything is
  /// removed, if one that stays needs one of them.
  std::uint64_t remove_later(std::optional<std::uint64_t> step);

 private:
  struct known_checkpoint {
    retained_entry entry;
    std::uint64_t bytes = 0;
  };
  struct removed {
    std::uint64_t count = 0;
    std::optional<error> failure{};  // the first one
  };

  void emit(const event& what) const { notify(on_event_, what); }
  [[nodiscard]] bool continues_from_older(std::uint64_t step);
  [[nodiscard]] retention_rules rules() const { return {options_.keep_last, options_.keep_best, options_.keep_every}; }
  [[nodiscard]] std::vector<retained_entry> entries(const std::vector<std::string>& all);
  [[nodiscard]] const known_checkpoint& known(const std::string& name, std::optional<std::uint64_t> step);
  void report_missing_metric(std::span<const retained_entry> all);
  removed remove(const std::vector<removal>& plan);

  any_store& store_;
  const checkpointer_options& options_;
  const observer& on_event_;
  std::optional<std::uint64_t> newest_step_;  // none: not known
  std::optional<std::uint64_t> run_step_;     // of the checkpoint that the run has restored or saved last
  bool is_missing_metric_reported_ = false;
  std::map<std::string, known_checkpoint> known_;  // by name
  std::set<std::string> unusable_;                 // those that a restore passed over
};

/// Not thread-safe: used by the background thread while it has a job, else by the training thread. `Any thread` marks functions that are
/// thread-safe.
class checkpoint_series {
 public:
  /// All must outlive the series.
  checkpoint_series(any_store store, const checkpointer_options& options, team& ranks, observer on_event);
  ~checkpoint_series();

  /// See checkpointer::restore.
  std::optional<load_report> restore(any_mutable_state state, const load_options& options);
  /// By `order`; nullopt: the newest whose loss is finite.
  std::optional<load_report> restore_by(any_mutable_state state, const std::optional<metric_order>& order,
                                        const load_options& options);

  /// Begins the save of a job of `shards` shards: add them in order, then finish. One save at a time. An error is reported as an event
  /// and thrown as cairn::error; nothing is left behind of the save.
  void begin(std::shared_ptr<save_job> job, std::size_t shards);
  void add(std::span<const std::vector<staged_piece>> shards);
  save_report finish();
  /// Ends a save that was not finished; nothing is left behind of it.
  void cancel() noexcept;

  /// Begins, adds and finishes a save from the state's own memory. `parts`: into as many shards, each written before the next is encoded; 0: at
  /// once.
  save_report save(std::shared_ptr<save_job> job, std::size_t parts = 0);
  /// Whether the values that the next delta refers to are in memory.
  [[nodiscard]] bool has_references() const noexcept { return base_.has_references(); }
  /// The same for a group of ranks, each of which writes the share that the plan gives it. A collective call.
  save_report save_together(std::shared_ptr<save_job> job, const plan::partition& plan, share_planner& shares);

  // A save of all ranks: the share of each becomes one shard. Only `share_outcome` communicates.
  /// 1. At the leader: begins the checkpoint. `pieces` are its share. Returns the text that the others need to join it:
  /// PARENT/ATTEMPT, without a parent where the checkpoint cannot be a delta.
  std::string begin_together(std::shared_ptr<save_job> job, std::span<const piece> pieces);
  /// At the others.
  void join_together(std::shared_ptr<save_job> job, std::span<const piece> pieces, std::string_view begun);
  /// 2. Encodes and writes the share of this rank.
  void add_share(std::vector<staged_piece> share);
  /// 3. What the leader needs to know of it.
  [[nodiscard]] std::string record_of_share() const;
  /// 4. At the leader: publishes the checkpoint, of the records of all ranks. `pieces`: what each has of the leaves that all ranks have.
  save_report publish_together(std::span<const std::string> records, const division& pieces);
  /// 5. At all: the planner learns what is stored. Returns what the others need for `published_together`.
  published_by_leader share_outcome(const save_job& job, share_planner& shares, std::uint64_t bytes);
  /// At the others.
  save_report published_together(const published_by_leader& what);
  /// Whether the plan of the last save has to be used again, so that each rank finds the values of its share in the checkpoint before.
  [[nodiscard]] bool extends_chain(const save_job& job) const {
    return use_parent(job.codecs) && base_.can_extend(job.info.step, job.chain);
  }
  /// The ranks are not certain to have the same parent: the next checkpoint is whole.
  void forget_chain() noexcept { base_.clear(); }
  /// Ends the save of `job` at this rank, because of an error of this or another one. Returns the error, which is reported if the save has not reported one.
  error cancel_together(const save_job& job, const error& cause);

  /// The report of a save of `job` that has nothing to write: the run has saved or restored this step last, and its checkpoint is whole and has
  /// the same bytes, but for notes, and metrics that `job` does not have. Encodes and hashes the state as a save does. Nothing if that is not
  /// so, or not known. Excludes other processes, as `begin` does, whose errors it throws.
  [[nodiscard]] std::optional<save_report> find_published(const save_job& job);
  /// The same for a group of ranks, each of which encodes and hashes the share that it has in the checkpoint. A collective call.
  [[nodiscard]] std::optional<save_report> find_published_together(const save_job& job);

  /// Gives the published checkpoint of `job` its notes, where these say that the run ends, and where the store can do that without writing the
  /// shards again. A failure is an event.
  void note_end(const save_job& job);

  /// The checkpoint that was saved or restored last; none before that, and after a restore that found nothing.
  [[nodiscard]] const std::optional<checkpoint_ref>& newest() const noexcept { return base_.parent(); }

  /// Is it time to merge deltas? The same at all ranks of a group.
  [[nodiscard]] bool is_merge_due() const;
  /// Deltas since the last merge or whole checkpoint.
  [[nodiscard]] std::size_t deltas_to_merge() const noexcept { return base_.deltas_to_merge(); }

  /// See merge_options.
  struct merge_hooks {
    std::function<void()> check;
    std::function<void(std::uint64_t, std::uint64_t)> progress;
  };
  /// Merges the newest deltas. After an error they are unchanged, and the merge is due again after the next save.
  merge_report merge(const merge_hooks& hooks);

  // A merge of all ranks, each of which merges its share: see joint_merge. None of these functions communicates.
  /// 1. At the leader: begins it, and returns the text that the others need to join it.
  std::string begin_merge(const merge_hooks& hooks);
  /// At the others.
  void join_merge(const merge_hooks& hooks, std::string_view begun);
  /// 2. Merges and writes the share of this rank. `record_of_share` is then that of it.
  void merge_share();
  /// 3. At the leader: publishes the merged checkpoint, of the records of all ranks.
  merge_report publish_merge(std::span<const std::string> records);
  /// At the others, when it is published.
  void merge_published(std::uint64_t bytes, bool is_whole);
  /// Ends the merge of this rank because of an error of any. Returns the error.
  error cancel_merge(const error& cause);

  /// See checkpointer::remove_after.
  std::uint64_t remove_after(std::uint64_t step);

  /// An event about the checkpoint of a step, or about the save of a job. Any thread.
  [[nodiscard]] event about(event::kind what, std::uint64_t step) const;
  [[nodiscard]] event about(event::kind what, const save_job& job) const;

  /// Reports a save that failed or was cancelled, unless it is reported already, and returns its error. `what` is an event `failed` about it. Any thread.
  [[nodiscard]] error failed(event what, const std::exception_ptr& cause, bool is_reported = false) const;

  [[nodiscard]] checkpoint_list& checkpoints() noexcept { return checkpoints_; }
  [[nodiscard]] const checkpoint_list& checkpoints() const noexcept { return checkpoints_; }
  [[nodiscard]] const any_store& store() const noexcept { return store_; }

 private:
  struct running_save;
  struct compared_share;

  void set_hooks();
  save_report published(save_report report);
  [[nodiscard]] std::optional<checkpoint_index> find_candidate(const save_job& job);
  [[nodiscard]] merge_options how_to_merge(const merge_hooks& hooks) const;
  void open_merge(const merge_hooks& hooks);
  merge_report merged(merge_report report);
  [[nodiscard]] error merge_failed(const std::exception_ptr& cause) const;

  [[nodiscard]] std::vector<std::string> names_by_metric(const std::optional<metric_order>& order) const;
  void check_replicas(const save_job& job, std::span<const std::vector<std::uint64_t>> samples);
  void own_store();
  void require_same_restore(const load_options& options, std::string_view order = {});
  void fence();
  template <class Act>
  auto cancel_on_error(const Act& act);
  void emit(const event& what) const { notify(on_event_, what); }
  /// The next save is built on the restored checkpoint, or on none.
  void restored(const std::optional<load_report>& report);
  /// With the codecs of the checkpointer. Checksums are compared before the state is changed only with `rename`, or if the caller asks.
  [[nodiscard]] load_options for_restore(load_options options) const;

  any_store store_;
  const checkpointer_options& options_;
  team& ranks_;
  observer on_event_;
  stores::ownership ownership_;
  checkpoint_list checkpoints_;
  delta_base base_;
  bool unmatched_reported_ = false;
  std::unique_ptr<running_save> running_;
  std::unique_ptr<joint_merge> merge_;  // of a group of ranks, while it is running
  bool is_failure_reported_ = false;    // of the last save of a group of ranks, at this rank
  // Of the last save of a group of ranks, at the leader: see share_outcome.
  std::vector<std::uint64_t> outcome_;
  std::string losses_;
};

}  // namespace cairn::inline v0_1::detail
