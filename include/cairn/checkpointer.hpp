// SPDX-License-Identifier: MIT
// The one object a trainer holds: restores, decides when to save, saves in the background, removes old checkpoints.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cairn/core/config.hpp"
#include "cairn/options.hpp"
#include "cairn/event.hpp"
#include "cairn/report.hpp"
#include "cairn/state/describe.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/retention.hpp"

namespace cairn::inline v0_1 {

class any_group;  // group/base.hpp

namespace detail {
class session;

/// Ends a session, but does nothing in a forked child: the thread and the files of the session are the parent's.
struct session_end {
  void operator()(session* ended) const noexcept;
};
}  // namespace detail

/// The checkpoints of one run in one place, named by step. The first save, `remove_after` or, in a group, `restore`
/// locks the directory or store: a second checkpointer saving there gets errc::busy. One save at a time runs in the
/// background, on its own thread. Not thread-safe: one trainer thread calls it; any may call `poll`, `stats`, `steps`
/// and `latest`. In a forked child all calls but `poll`, `steps`, `latest` and `store` are errc::invalid, and the
/// destructor does nothing.
///
/// The newest checkpoint is the one of the largest step. A run must not continue below it, or below the running save,
/// since a restore would prefer that checkpoint and retention would remove the new ones: that is errc::stale. To
/// continue from an earlier step, `restore` that and call `remove_after`, or set `on_older_step`. Checkpoints that a
/// restore has passed over do not count.
///
/// Memory beyond the state: one copy of it, prepared by `restore` or the first `step` that does not save; and for
/// codecs that use the previous checkpoint, its values.
class checkpointer {
 public:
  /// Checkpoints in the directory `root`, which the first save or `remove_after` makes. Does not touch the disk; a
  /// relative path is resolved now. errc::invalid for options that are out of range or would do nothing.
  explicit checkpointer(const std::string& root, checkpointer_options options = {});

  /// Checkpoints in any store. errc::invalid also for `durable = false`, which is the store's option.
  explicit checkpointer(any_store store, checkpointer_options options = {});

  /// One checkpointer at each rank of a group, for a state of which all ranks have the same copy, except for `per_rank`
  /// parts. All ranks pass the same options and place, and make the same calls in the same order. What one rank throws,
  /// all throw. A save writes the state once: each rank copies and writes its share, of about as many bytes, and rank 0
  /// publishes the checkpoint when all have written. A checkpoint is restored on any number of ranks. Rank 0 asks the
  /// policy, and removes checkpoints. An error or a signal at one rank takes effect at all ranks with their next call;
  /// a `step` never waits for what others do in the background. errc::invalid for `shards` and `max_staging_bytes`.
  checkpointer(const std::string& root, checkpointer_options options, any_group ranks);
  /// As above, in any store that all ranks reach.
  checkpointer(any_store store, checkpointer_options options, any_group ranks);

  /// The other one may then only be assigned or destroyed.
  checkpointer(checkpointer&&) noexcept;
  checkpointer& operator=(checkpointer&&) noexcept;
  /// Finishes or cancels the running save, as `on_destruction` says. An error is then reported to the observer alone.
  ~checkpointer();

  /// Loads the newest checkpoint that can be restored, or that of `options.step`; nothing when there is none yet, as on
  /// the first run (the event `nothing_restored`). Waits for the running save. Checkpoints that are corrupt or have
  /// just been removed are passed over, with an event, and listed in the report. Errors: as of `wait`; `mismatch` for a
  /// checkpoint that does not fit the state; `corrupt` if none can be restored; `io` if the store or a checkpoint
  /// cannot be read just now; `not_found` for a step without a checkpoint; `unsupported` for one of a newer format
  /// version or of a codec that is not included; `no_memory`; `invalid` for what an adapter throws. After an error the
  /// state is as it was, unless `error::state_changed()`: a damaged checkpoint had been loaded in part, and no older
  /// one could be loaded over it. `options.verify_first` excludes that, and reads the files twice. Once this
  /// checkpointer has saved or restored, arrays of numbers take other sizes of its checkpoints, as if `options.reshape`
  /// said reshaping::resize, so that a state that grows can go back.
  template <detail::state_object State>
  std::optional<load_report> restore(State& state, const load_options& options = {}) {
    return restore(detail::refer_to_load(state), options);
  }
  /// As above, for a reference to any state.
  std::optional<load_report> restore(any_mutable_state state, const load_options& options = {});

  /// Loads the checkpoint with the best metric; of equals, the newest. nullopt for `order`: that of `keep_best`, else
  /// the lowest loss. Nothing when there is no checkpoint. One whose index is damaged may be the best: it is passed
  /// over as in `restore`. Errors: as above; `io` if an index cannot be read; `not_found` if none has the metric;
  /// `invalid` for `options.step`.
  template <detail::state_object State>
  std::optional<load_report> restore_best(State& state, std::optional<metric_order> order = std::nullopt,
                                          const load_options& options = {}) {
    return restore_best(detail::refer_to_load(state), std::move(order), options);
  }
  /// As above, for a reference to any state.
  std::optional<load_report> restore_best(any_mutable_state state, std::optional<metric_order> order = std::nullopt,
                                          const load_options& options = {});

  /// Loads the newest checkpoint whose loss is finite, for a run whose loss has become NaN or infinite. Retention keeps
  /// it as long as newer ones have such losses. The errors are those of `restore_best`.
  template <detail::state_object State>
  std::optional<load_report> restore_finite(State& state, const load_options& options = {}) {
    return restore_finite(detail::refer_to_load(state), options);
  }
  /// As above, for a reference to any state.
  std::optional<load_report> restore_finite(any_mutable_state state, const load_options& options = {});

  /// Reports that a step is done. When the policy says so, copies the state and returns: the copy is encoded, written
  /// and published in the background, and the training may change the state at once. Throws the error of an earlier
  /// save in the background, once, before it saves; errc::io only when saves have failed for `retry_for` (see
  /// `on_failure`). After a signal of `preempt`, and shortly before `until`, it saves at once, within the deadline if
  /// that is possible, and the result says `stop`; `wait` then throws the earlier error. errc::stale, whether or not a
  /// save is due: a step below that of the newest checkpoint or of the running save, unless `on_older_step` is set. The
  /// same step again replaces its checkpoint.
  template <detail::state_object State>
  [[nodiscard]] step_outcome step(const State& state, const observation& now) {
    return step(cairn::refer(state), now);
  }
  /// As above, for a reference to any state.
  [[nodiscard]] step_outcome step(any_state state, const observation& now);

  /// Saves now, whatever the policy says, and returns when the checkpoint is published and retention has run; a
  /// checkpoint that cannot be removed is reported as an event. Waits for the running save; throws as `step` does.
  /// After an error nothing is left behind of this save, and all earlier checkpoints stay. But if only the last sync of
  /// the directory fails, the checkpoint is there.
  ///
  /// It writes also where a `step` has saved this step: the checkpoint then records that the run has ended.
  template <detail::state_object State>
  save_report save(const State& state, const observation& now) {
    return save(cairn::refer(state), now);
  }
  /// As above, for a reference to any state.
  save_report save(any_state state, const observation& now);

  /// Has a signal asked to stop? Call it during long work between two steps, such as an evaluation; if true, go on to
  /// the next `step`. Costs a few nanoseconds.
  [[nodiscard]] bool poll() const noexcept;

  /// Makes progress with the messages of a group of ranks, during long work between two steps. Of use where the
  /// messages make progress only in calls of their library, as those of MPI do. Never waits.
  void progress();

  /// Returns when the running save and merge are done; throws, once, what went wrong (see `on_failure`).
  void wait();

  /// Steps of the published checkpoints, ascending. errc::io.
  [[nodiscard]] std::vector<std::uint64_t> steps() const;
  /// The newest of them; nullopt if there is none. errc::io.
  [[nodiscard]] std::optional<std::uint64_t> latest() const;

  /// Removes the checkpoints of later steps, so that the run can continue from `step`; also pinned and damaged ones.
  /// Newest first: after a crash, those that are left are whole. Waits for the running save. Returns the number of
  /// removed checkpoints. Errors: as of `wait`; `invalid`, before anything is removed, if an earlier checkpoint, or one
  /// with another name, is built on a later one; `io` or `unsupported` if one cannot be read or removed; `busy`.
  std::uint64_t remove_after(std::uint64_t step);

  /// What retention would remove now, and why; removes nothing. Waits for the running save, in a group for what this
  /// rank does in the background. errc::io, unsupported.
  [[nodiscard]] std::vector<removal> retention_plan();

  /// Totals so far.
  [[nodiscard]] save_stats stats() const;

  /// The store of the checkpoints.
  [[nodiscard]] const any_store& store() const noexcept;

 private:
  std::unique_ptr<detail::session, detail::session_end> self_;
};

}  // namespace cairn::inline v0_1
