// The one object that a trainer holds: restores, decides when to save, saves behind the training, and keeps the directory tidy.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cairn/options.hpp"
#include "cairn/core/config.hpp"
#include "cairn/event.hpp"
#include "cairn/load.hpp"
#include "cairn/report.hpp"
#include "cairn/save.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/retention.hpp"

namespace cairn {

namespace detail {
class session;
}

/// Checkpoints of one run in one place, named by step. From the first save on it owns the place: a second process that saves there
/// gets errc::busy. One save at a time goes on behind the training, on a thread of its own. Not thread-safe: one trainer thread calls
/// it, but `poll` and `stats` any.
///
/// Memory beyond the state: one copy of it, made ready by `restore` or the first `step`, and what chains remember (delta_base).
class checkpointer {
 public:
  /// Checkpoints in the directory `root`, which is made by the first save. Does not touch the disk. errc::invalid for options that
  /// cannot be.
  explicit checkpointer(const std::string& root, checkpointer_options options = {});

  /// Checkpoints in any store.
  explicit checkpointer(any_store store, checkpointer_options options = {});

  checkpointer(checkpointer&&) noexcept;
  checkpointer& operator=(checkpointer&&) noexcept;
  /// Finishes or abandons what is on its way, as `on_destruction` says. What goes wrong then is told to the observer alone.
  ~checkpointer();

  /// Loads the newest checkpoint that can be restored; nothing when there is none yet, as on the first run. Corrupt ones are passed
  /// over with an event and listed in the report. A checkpoint that does not fit the state is an error (`mismatch`), and so is a
  /// place where none of the checkpoints can be restored. The state is then as it was.
  template <loadable State>
  std::optional<load_report> restore(State& state, const load_options& options = {}) {
    return restore(refer(state), options);
  }
  std::optional<load_report> restore(any_mutable_state state, const load_options& options = {});

  /// Tells of a step done. When the policy says so, copies the state and returns: the copy is encoded, written and published behind
  /// the training, which may change the state at once. Throws, once and before it does anything, what went wrong behind the
  /// training since the last call. When a signal of `preempt` has come it saves at once, within the deadline if that is possible, and
  /// `stop` says so.
  template <saveable State>
  step_outcome step(const State& state, const observation& now) {
    return step(refer(state), now);
  }
  step_outcome step(any_state state, const observation& now);

  /// Saves now, whatever the policy says, and returns when the checkpoint is published and what no rule keeps is removed; what cannot
  /// be removed is told to the observer. Waits for the save on its way; throws as `step` does. After an error nothing is left behind
  /// of this save, and all earlier checkpoints stay.
  template <saveable State>
  save_report save(const State& state, const observation& now) {
    return save(refer(state), now);
  }
  save_report save(any_state state, const observation& now);

  /// Has a signal asked to stop? For long loops between two steps, such as an evaluation: then go on to the next `step`. Costs a few
  /// nanoseconds.
  [[nodiscard]] bool poll() const noexcept;

  /// Returns when all that was to be saved is saved and all that was to be merged is merged; throws, once, what went wrong.
  void wait();

  /// What retention would remove now, and why; removes nothing.
  [[nodiscard]] std::vector<removal> retention_plan();

  /// Totals so far.
  [[nodiscard]] save_stats stats() const;

  [[nodiscard]] const any_store& store() const noexcept;

 private:
  std::unique_ptr<detail::session> self_;
};

}  // namespace cairn

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/run/checkpointer.ipp"  // IWYU pragma: keep
#endif
