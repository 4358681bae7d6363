// SPDX-License-Identifier: MIT
// The checkpoints of one run in their store: what is there, what the next one is built on, what is removed.
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
#include <vector>

#include "cairn/chain/attempt.hpp"
#include "cairn/core/error.hpp"
#include "cairn/encode/choice.hpp"
#include "cairn/event.hpp"
#include "cairn/group/team.hpp"
#include "cairn/options.hpp"
#include "cairn/report.hpp"
#include "cairn/state/any_state.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/retention.hpp"

namespace cairn::inline v0_1::detail {

/// The checkpoints named by step in a store, as this process knows them; removes those that no rule keeps. Not
/// thread-safe, except where it says "any thread".
class checkpoint_list {
 public:
  /// All must outlive the list.
  checkpoint_list(any_store& store, const checkpointer_options& options, const observer& on_event)
      : store_(store), options_(options), on_event_(on_event) {}

  /// Names and steps of the checkpoints that are named by step, ascending. Any thread.
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] std::vector<std::uint64_t> steps() const;

  /// The step of the newest checkpoint that no restore has passed over; 0 if there is none. The first call, and the
  /// first one after `refresh` or `failed`, lists the store: errc::io.
  [[nodiscard]] std::uint64_t newest_step();
  /// As above. But later checkpoints than `step` count only if their index, which this reads, does not say that they
  /// are of another step than their name.
  [[nodiscard]] std::uint64_t newest_step_for(std::uint64_t step);
  /// The store may have changed: forgets what is known of it.
  void refresh() noexcept {
    newest_step_.reset();
    known_.clear();
  }
  /// A failed save may still have published its checkpoint, if only the last sync failed. It then counts as the run's
  /// own, unless a checkpoint of its step or later was there before.
  void failed(const save_job& job) {
    if (newest_step_ && *newest_step_ < job.info.step) run_step_ = job.info.step;
    newest_step_.reset();
    known_.erase(job.name);
  }

  /// Throws errc::stale for a step below `newest`: a restore would prefer that checkpoint. Any thread.
  void refuse_earlier(std::uint64_t step, std::uint64_t newest) const;

  /// Before a save of `step`: if the run does not continue from the newest checkpoint, does what `on_older_step` says,
  /// which may be to remove checkpoints.
  void make_way(std::uint64_t step);

  /// Adds the published checkpoint, or replaces it.
  void saved(const save_job& job, const save_report& report);
  /// The checkpoint `name` has been replaced by its merged form.
  void merged(const std::string& name, const merge_report& report);
  /// The run continues from the restored checkpoint, or anew. Skipped ones do not count until replaced or restored.
  void restored(const std::optional<load_report>& report);

  /// What no rule keeps. errc::io: an index cannot be read; errc::unsupported: one is of another format version.
  [[nodiscard]] std::vector<removal> retention_plan();

  /// Removes what no rule keeps; returns the number of removed checkpoints. Reports what cannot be removed as an event.
  std::uint64_t prune() noexcept;

  /// Removes the checkpoints that are later than `step`, or all, newest first, and returns their number. errc::invalid,
  /// before anything is removed, if one that stays needs one of them.
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

/// Which checkpoint is restored: the newest, or that of `load_options::step`; or the best by a metric.
struct restore_choice {
  bool by_metric = false;
  std::optional<metric_order> order{};  ///< none: the newest whose loss is finite
};

/// Not thread-safe: used by the background thread while it has a job, else by the training thread. `Any thread` marks
/// functions that are thread-safe. None of the functions communicates but the restores.
class history {
 public:
  /// All must outlive the history.
  history(any_store store, const checkpointer_options& options, team& ranks, observer on_event);

  std::optional<load_report> restore(any_mutable_state state, load_options options, const restore_choice& choice);

  /// Before a save of `step` begins: excludes other processes, and makes way for it, see checkpoint_list.
  void prepare_for(std::uint64_t step);
  /// The events of a save that is encoded.
  void set_hooks(save_job& job) const;
  /// The values that the next delta refers to.
  [[nodiscard]] delta_base& base() noexcept { return base_; }
  [[nodiscard]] const delta_base& base() const noexcept { return base_; }
  /// As `options_.replica_check` says: refuses or reports samples that differ between the ranks.
  void check_replicas(const save_job& job, std::span<const std::vector<std::uint64_t>> samples) const;
  /// A save is published, which took the seconds of its report. Returns the report.
  save_report saved(const save_job& job, save_report report);
  /// Whether to use the last save's plan again, so that each rank finds its share's values in the checkpoint before.
  [[nodiscard]] bool extends_chain(const save_job& job) const {
    return use_parent(job.codecs) && base_.can_extend(job.info.step, job.chain);
  }

  /// Is it time to merge deltas? The same at all ranks of a group.
  [[nodiscard]] bool is_merge_due() const;
  /// The source of a merge of the newest deltas. `check` and `progress`: see merge_options.
  [[nodiscard]] std::unique_ptr<merge_source> source_of_merge(
      std::function<void()> check, std::function<void(std::uint64_t, std::uint64_t)> progress) const;
  /// The newest checkpoint has been replaced by its merged form.
  void merged(const merge_report& report);

  /// See checkpointer::remove_after.
  std::uint64_t remove_after(std::uint64_t step);

  /// An event about the checkpoint of a step, or about the save of a job. Any thread.
  [[nodiscard]] event about(event::kind what, std::uint64_t step, std::string message = {}) const;
  [[nodiscard]] event about(event::kind what, const save_job& job, std::string message = {}) const;
  /// Reports a failed or cancelled save, and returns its error. `what` is an event `failed` about it. Any thread.
  [[nodiscard]] error failed(event what, const std::exception_ptr& cause) const;
  /// Reports a merge that has failed.
  void merge_failed(const error& cause) const;

  [[nodiscard]] checkpoint_list& checkpoints() noexcept { return checkpoints_; }
  [[nodiscard]] const checkpoint_list& checkpoints() const noexcept { return checkpoints_; }
  [[nodiscard]] any_store& store() noexcept { return store_; }
  [[nodiscard]] const any_store& store() const noexcept { return store_; }

 private:
  [[nodiscard]] std::vector<std::string> names_by_metric(const std::optional<metric_order>& order) const;
  void own_store();
  void require_same_restore(const load_options& options, const restore_choice& choice);
  void take_over_store();
  void emit(const event& what) const { notify(on_event_, what); }
  /// The next save is built on the restored checkpoint, or on none.
  void restored(const std::optional<load_report>& report);

  any_store store_;
  const checkpointer_options& options_;
  team& ranks_;
  observer on_event_;
  stores::ownership ownership_;
  checkpoint_list checkpoints_;
  delta_base base_;
  bool unmatched_reported_ = false;
};

}  // namespace cairn::inline v0_1::detail
