// What a user chooses: what a checkpointer keeps, when it saves, how, and whom it tells.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>

#include "cairn/encode/choice.hpp"
#include "cairn/event.hpp"
#include "cairn/chain/delta_base.hpp"
#include "cairn/schedule/base.hpp"
#include "cairn/schedule/default_policy.hpp"
#include "cairn/schedule/every.hpp"  // IWYU pragma: export: the two plain policies, for those who name one
#include "cairn/signals.hpp"
#include "cairn/store/retention.hpp"

namespace cairn {

/// What happens when a save is due and the one before is still on its way behind the training.
enum class when_busy : std::uint8_t {
  skip,    ///< none is made; it is due again at the next step
  wait,    ///< the trainer waits
  replace  ///< the one before is abandoned; but one that has replaced another itself is let through, or none would ever be complete
};

/// What becomes of a save on its way when its checkpointer is destroyed.
enum class when_destroyed : std::uint8_t {
  finish,  ///< it is waited for
  abandon  ///< nothing is left of it
};

/// Checkpoints that no rule keeps are removed after a save; with no rule at all everything is kept.
struct checkpointer_options {
  std::optional<std::size_t> keep_last{};     ///< the newest ones
  std::optional<keep_best_rule> keep_best{};  ///< the best by a metric: "loss" or one of `observation::metrics`
  std::optional<std::uint64_t> keep_every{};  ///< those at multiples of so many steps
  std::set<std::uint64_t> pinned{};           ///< these steps, always
  any_policy when = default_policy();         ///< and as what: adaptive, by what saves are seen to cost

  bool durable = true;     ///< see save_options
  unsigned threads = 0;    ///< for saving; 0: one behind the training, for `save` what the store takes to be best
  std::size_t shards = 1;  ///< see save_options
  codec_rules codecs{};    ///< see save_options; of lossy ones, and of XOR with the parent, come chains of deltas
  chain_options chain{};   ///< how often a checkpoint is whole, and when deltas are merged
  observer on_event{};

  bool asynchronous = true;  ///< `step` returns when the state is copied; else when it is published
  when_busy on_busy = when_busy::skip;
  when_destroyed on_destruction = when_destroyed::finish;
  unsigned copy_threads = 0;  ///< for the copy that `step` waits for; 0: as many as there are cores, at most 8
  /// What the copy may take of memory, at least 1 MiB. A larger state is saved in parts: `step` waits until the last one is copied,
  /// that is until all but so many bytes are written.
  std::uint64_t max_staging_bytes = std::numeric_limits<std::uint64_t>::max();
  double max_bytes_per_second = 0;  ///< for writing behind the training; 0: no limit

  signals preempt{};                                   ///< which ask the trainer to stop: {SIGTERM, SIGUSR1}
  std::chrono::duration<double> preempt_deadline{30};  ///< from the signal until the state has to be safe
};

}  // namespace cairn
