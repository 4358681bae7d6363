// SPDX-License-Identifier: MIT
// What the trainer reports of a step, and what saves, loads, merges and the checkpointer report back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cairn/core/config.hpp"
#include "cairn/core/policy_memory.hpp"
#include "cairn/core/error.hpp"     // IWYU pragma: export: what it throws
#include "cairn/core/encoding.hpp"  // IWYU pragma: export
#include "cairn/state/base.hpp"

namespace cairn::inline v0_1 {

/// What the trainer reports about the step that it has done.
struct observation {
  std::uint64_t step = 0;  ///< training steps so far
  /// Recorded as the metric "loss", in place of one in `metrics`. NaN never counts as best, and Cairn's policies ignore
  /// what is not finite.
  std::optional<double> loss{};
  /// Machines or processes that train now; a failure of any of them stops the job. Cairn's policies take 1 for what is
  /// not above 0 and finite.
  double workers = 1;
  std::map<std::string, double> metrics{};  ///< kept in the checkpoint, for retention and for people
};

/// A checkpoint that a restore could not use.
struct skipped_checkpoint {
  std::string checkpoint;  ///< its name
  std::string reason;      ///< one sentence
};

/// What a load did.
struct load_report : match_report {
  /// Out of line: every unit of a trainer would compile them.
  load_report();
  load_report(const load_report&);
  load_report(load_report&&) noexcept;
  load_report& operator=(const load_report&);
  load_report& operator=(load_report&&) noexcept;
  ~load_report();

  std::string path;        ///< of the checkpoint that was loaded; a step saved again is in the directory `path~2`
  std::uint64_t step = 0;  ///< training steps so far
  std::map<std::string, double> metrics;  ///< stored in it
  policy_memory notes;                    ///< what the policy of the run had learned
  std::uint64_t bytes = 0;                ///< loaded into the state
  double seconds = 0;                     ///< of the whole call
  /// Of the checkpoint in its store; empty for loads from an open checkpoint, a single file, or a checkpoint's path.
  std::string name{};
  std::uint64_t id = 0;                     ///< identifies what the checkpoint restores; a merge does not change it
  std::size_t links = 1;                    ///< checkpoints that were read: this one and those that it is built on
  std::vector<skipped_checkpoint> skipped;  ///< newer ones that could not be restored, and why
  std::map<std::string, std::string> metadata{};  ///< of the user: see checkpointer_options
  /// What lossy checkpoints have changed in the loaded arrays, this load included, by path in the checkpoint. Later
  /// checkpoints of the run record it.
  std::map<std::string, restored_loss, std::less<>> restored{};
  std::size_t level = 0;  ///< of cairn::levels: the number of the place that it was read from, the nearest one 0
};

/// What a merge did.
struct merge_report {
  std::string checkpoint;  ///< its name
  std::string parent{};    ///< what the checkpoint is built on now; empty: nothing
  /// That were merged; fewer than 2: nothing was merged, except one delta that was made whole.
  std::size_t deltas = 0;
  std::uint64_t bytes = 0;  ///< of the checkpoint's files now
  double seconds = 0;       ///< of the whole call
};

namespace detail {
class save_result;
}

/// A save that `checkpointer::step` started. Copies refer to the same save; they may outlive the checkpointer.
/// Thread-safe. In a forked child, the calls are errc::invalid. In a group of ranks a save ends only in calls of the
/// checkpointer: call its `wait` before the `wait` or `get` of this.
class save_handle {
 public:
  save_handle() = default;  ///< no save
  explicit save_handle(std::shared_ptr<const detail::save_result> save) noexcept : save_(std::move(save)) {}

  /// Was a save started?
  [[nodiscard]] explicit operator bool() const noexcept { return save_ != nullptr; }
  /// Has it failed or been cancelled, or is it published and the merge and retention after it done, so that the next
  /// save can start? True where no save was started.
  [[nodiscard]] bool done() const;
  /// Returns when it is done.
  void wait() const;
  /// Waits, and gives the report of the published checkpoint. Throws the error of a failed save, errc::cancelled for a
  /// save that was cancelled, errc::invalid where no save was started.
  [[nodiscard]] save_report get() const;

 private:
  std::shared_ptr<const detail::save_result> save_;
};

/// What `step` did.
struct step_outcome {
  bool started = false;  ///< a save was started, or has failed before that (see when_failed): `save` has the outcome
  /// A save was due, but the previous one is still running, or saves pause after one that failed (see when_failed).
  bool skipped = false;
  bool stop = false;         ///< a signal asked to stop, or `until` is near, and the state is saved: leave the loop
  double stall_seconds = 0;  ///< that the trainer waited
  save_handle save{};        ///< of the save that was started
};

/// Copies to one place of cairn::levels, since the checkpointer was made.
struct level_stats {
  std::string place;         ///< its location
  std::uint64_t copies = 0;  ///< that were made
  std::uint64_t failed = 0;  ///< that were not
  std::uint64_t bytes = 0;   ///< that were copied, in files
  double seconds = 0;        ///< that copying took; with the waits for `max_bytes_per_second`
  double last_seconds = 0;   ///< that the last copy took, without these waits
  std::uint64_t step = 0;    ///< of the checkpoint that was copied last
  /// From the beginning of one copy to that of the next, in seconds, as given or chosen; infinite where no more are
  /// made; 0 while it is not known.
  double period = 0;
};

/// Totals over all saves of a checkpointer.
struct save_stats {
  std::uint64_t saves = 0;  ///< published
  /// Cancelled saves, and running saves because of which `step` skipped others: each once, however many it skipped.
  std::uint64_t skipped = 0;
  std::uint64_t failed = 0;  ///< saves and merges; and steps at which the policy's `should_save` has thrown
  std::uint64_t merged = 0;  ///< merges that were made
  std::uint64_t pruned = 0;  ///< checkpoints that were removed, by retention or `remove_after`
  /// That the trainer waited in `step` and `save`; without the time in which `save` waits for a running save.
  double stall_seconds = 0;
  double max_stall_seconds = 0;  ///< the longest of these
  /// Of work in the background: encoding, writing, merging, removing; with the waits for `max_bytes_per_second`.
  double background_seconds = 0;
  std::uint64_t state_bytes = 0;  ///< of what was published, before encoding
  std::uint64_t bytes = 0;        ///< of what was published, in files
  /// Of cairn::levels, all places but the first; in a group, at rank 0.
  std::vector<level_stats> levels{};

  /// State bytes per byte in files; 0 before the first save.
  [[nodiscard]] double ratio() const noexcept {
    return bytes == 0 ? 0 : static_cast<double>(state_bytes) / static_cast<double>(bytes);
  }

  /// Adds a stall.
  void stalled(double seconds) noexcept {
    stall_seconds += seconds;
    if (seconds > max_stall_seconds) max_stall_seconds = seconds;
  }
};

}  // namespace cairn::inline v0_1
