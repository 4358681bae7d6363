// The one object that a trainer holds: restores, decides when to save, saves, and keeps the directory tidy.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cairn/core/config.hpp"
#include "cairn/event.hpp"
#include "cairn/load.hpp"
#include "cairn/merge.hpp"
#include "cairn/place.hpp"
#include "cairn/save.hpp"
#include "cairn/save_chain.hpp"
#include "cairn/schedule/base.hpp"
#include "cairn/schedule/every.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/retention.hpp"

namespace cairn {

/// What a checkpointer keeps, when it saves, how, and whom it tells. Checkpoints that no rule keeps are
/// removed after a save; with no rule at all everything is kept.
struct checkpointer_options {
  std::optional<std::size_t> keep_last{};     ///< the newest ones
  std::optional<keep_best_rule> keep_best{};  ///< the best by a metric: "loss" or one of `observation::metrics`
  std::optional<std::uint64_t> keep_every{};  ///< those at multiples of so many steps
  std::set<std::uint64_t> pinned{};           ///< these steps, always
  any_policy when = policies::every{std::chrono::minutes{10}};
  bool durable = true;   ///< see save_options
  unsigned threads = 0;  ///< for saving; 0: what the store takes to be best
  std::size_t shards = 1;
  codec_rules codecs{};   ///< see save_options; of lossy ones, and of XOR with the parent, come chains of deltas
  chain_options chain{};  ///< how often a checkpoint is whole, and when deltas are merged
  observer on_event{};
};

/// What the trainer says of the step that it has done.
struct observation {
  std::uint64_t step = 0;
  std::optional<double> loss{};
  std::map<std::string, double> metrics{};  ///< kept in the checkpoint with the loss, for retention and for people
};

/// What `step` did.
struct step_outcome {
  bool saved = false;
  save_report report{};

  explicit operator bool() const noexcept { return saved; }
};

/// Checkpoints of one run in one place, named by step. From the first save on it owns the place: a second
/// process that saves there gets errc::busy. Not thread-safe: one trainer thread calls it.
class checkpointer {
 public:
  /// Checkpoints in the directory `root`, which is made by the first save. Does not touch the disk.
  explicit checkpointer(const std::string& root, checkpointer_options options = {});

  /// Checkpoints in any store.
  explicit checkpointer(any_store store, checkpointer_options options = {});

  /// Loads the newest checkpoint that can be restored; nothing when there is none yet, as on the first run.
  /// Corrupt ones are passed over with an event and listed in the report. A checkpoint that does not fit the
  /// state is an error
  /// (`mismatch`), and so is a place where none of the checkpoints can be restored. The state is then as it
  /// was.
  template <class State>
  std::optional<load_report> restore(State& state, const load_options& options = {}) {
    return restore(refer(state), options);
  }
  std::optional<load_report> restore(any_state state, const load_options& options = {});

  /// Tells of a step done; saves when the policy says so. Throws what `save` throws.
  template <class State>
  step_outcome step(const State& state, const observation& now) {
    if (!is_due(now)) return {};
    return {.saved = true, .report = save(state, now)};
  }

  /// Saves now, whatever the policy says, and then removes what no rule keeps; what cannot be removed is told
  /// to the observer. After an error nothing is left behind of this save, and all earlier checkpoints stay.
  template <class State>
  save_report save(const State& state, const observation& now) {
    return save(refer(state), now);
  }
  save_report save(any_state state, const observation& now);

  /// Returns when all that was to be saved is saved and all that was to be merged is merged; throws what went wrong in the
  /// background.
  void wait();

  /// What retention would remove now, and why; removes nothing.
  [[nodiscard]] std::vector<removal> retention_plan();

  [[nodiscard]] const any_store& store() const noexcept { return store_; }

 private:
  [[nodiscard]] bool is_due(const observation& now);
  void start_merge(const std::string& name);
  void finish_merge();
  [[nodiscard]] std::function<void(std::uint64_t, std::uint64_t)> progress_of(const event& started) const;
  void prune();
  [[nodiscard]] std::vector<retained_entry> entries();
  bool remember(const std::string& name, std::uint64_t step);

  any_store store_;
  checkpointer_options options_;
  stores::ownership ownership_;
  detail::stopwatch watch_;
  std::uint64_t saved_step_ = 0;
  double saved_seconds_ = 0;
  std::map<std::string, retained_entry> known_;  // published checkpoints, by name
  std::set<std::string> unusable_;               // those that a restore passed over
  save_chain chain_;
  std::future<merge_report> merge_;  // in the background; nothing else touches the store meanwhile
  std::optional<error> failure_;     // of the background, for `wait`
};

}  // namespace cairn

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/checkpointer.ipp"  // IWYU pragma: keep
#endif
