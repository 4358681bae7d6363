// SPDX-License-Identifier: MIT
// The published checkpoints of a run: the newest one, what retention removes, and how a run continues from an earlier step.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "cairn/chain/save_job.hpp"
#include "cairn/core/error.hpp"
#include "cairn/event.hpp"
#include "cairn/options.hpp"
#include "cairn/report.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/store/retention.hpp"

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

}  // namespace cairn::inline v0_1::detail
