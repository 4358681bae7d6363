// SPDX-License-Identifier: MIT
// What the user of a checkpointer chooses: what it keeps, when and how it saves, and who is notified. In all options of
// Cairn `threads = 0` lets Cairn choose the number, and an option that is switched off is an empty optional. Options of
// a checkpointer that would do nothing without another one are errc::invalid, except `retry_for`, the options of a
// group, and `chain` without a codec that makes deltas.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "cairn/core/config.hpp"
#include "cairn/chain/options.hpp"
#include "cairn/encode/choice.hpp"
#include "cairn/event.hpp"
#include "cairn/schedule/base.hpp"
#include "cairn/schedule/every.hpp"  // IWYU pragma: export: the two plain policies, for those who name one
#include "cairn/signals.hpp"
#include "cairn/store/retention.hpp"

namespace cairn::inline v0_1 {

/// Which checkpoint is the best one.
struct metric_order {
  std::string metric = "loss";  ///< "loss", or a name in `observation::metrics`
  bool lower_is_better = true;  ///< false: the largest value is the best
};

/// A save is due while the previous one is still running in the background.
enum class when_busy : std::uint8_t {
  skip,    ///< it is not made; it is due again at the next step
  wait,    ///< the trainer waits
  replace  ///< the running save is cancelled; but if it replaced another one itself, the new one is skipped
};

/// A checkpointer is destroyed while a save is running.
enum class when_destroyed : std::uint8_t {
  finish,  ///< the destructor waits for it
  cancel   ///< the save is cancelled and leaves nothing behind
};

/// A step is below that of the newest checkpoint: the run continues from an older one, or is another run in a directory
/// of an earlier one.
enum class when_older : std::uint8_t {
  refuse,  ///< errc::stale
  /// The first save removes the checkpoints that the run does not continue from: those later than the one that it has
  /// restored or saved last; all, if it has restored none. Nothing is removed before a save.
  replace
};

/// A save that `step` started has failed, or the policy's `should_save` has thrown.
enum class when_failed : std::uint8_t {
  /// An error of the copy or the policy is thrown by the same `step`; one of the background by the next call, once. But
  /// after errc::io of a save in the background, which may pass, only `wait` throws until saves have failed for
  /// `retry_for`. Meanwhile saves are tried again with growing pauses, as with `keep_training`.
  raise,
  /// Only `save_handle::get` throws it, and `step` if the save after a signal fails; also an event, and counted in
  /// `stats`. Then `step` makes no save for as long as the failed one took; after each further failure at least twice
  /// as long, at most ten minutes.
  keep_training
};

/// What a group of ranks does where a sample of the state, compared at every save, shows that ranks hold different
/// values of what all should have in common, after a lost reduction or a fault of memory.
enum class replica_check : std::uint8_t {
  off,     ///< no sample is compared
  report,  ///< the event `differing`, at rank 0
  refuse   ///< nothing is published, and all ranks throw errc::mismatch
};

/// The checkpoints of one run. What no rule keeps is removed after a save; without rules everything is kept.
/// `keep_last`, `keep_every` or `keep_best->count` of 0, and a number outside the bounds given here, is errc::invalid.
struct checkpointer_options {
  std::optional<std::size_t> keep_last{};     ///< the newest n
  std::optional<keep_best_rule> keep_best{};  ///< the best by a metric: "loss" or one of `observation::metrics`
  std::optional<std::uint64_t> keep_every{};  ///< the first at or after each multiple of n steps
  std::set<std::uint64_t> pinned{};           ///< those at these steps
  any_policy when = default_policy();         ///< decides when to save, and as what

  bool durable = true;   ///< see save_options; must be true with a store that is passed in, which has its own option
  unsigned threads = 0;  ///< for saves that the trainer waits for; 0: see save_options
  unsigned background_threads = 1;  ///< for saves and merges in the background; more take cores from the training
  /// The cores for the work in the background, numbered from 0; those that the process may not use do not count. Empty:
  /// all that it had when it was started, also where the main thread has been pinned to one. Threads that save while
  /// the trainer waits use all.
  std::set<unsigned> cores{};
  std::size_t shards = 0;  ///< see save_options
  codec_rules codecs{};    ///< see save_options; lossy codecs and XOR with the parent make chains of deltas
  chain_options chain{};   ///< how often a checkpoint is whole, and when deltas are merged
  observer on_event{};     ///< is called with every event of the run
  /// Recorded in every checkpoint, for people and other programs: names and texts in UTF-8.
  std::map<std::string, std::string> metadata{};

  /// True: `step` returns when the state is copied. False: when the checkpoint is published. Then `on_busy`,
  /// `copy_threads`, `max_staging_bytes` and `max_bytes_per_second` are errc::invalid, and `background_threads`,
  /// `cores`, `on_destruction` and `hang_timeout` need `chain.merge` or cairn::levels: merges and copies to other
  /// places run in the background in any case.
  bool asynchronous = true;
  when_busy on_busy = when_busy::skip;                     ///< a save is due while another one runs
  when_destroyed on_destruction = when_destroyed::finish;  ///< what the destructor does with a running save
  when_failed on_failure = when_failed::raise;             ///< who hears of errors of saves in the background
  /// With when_failed::raise and `asynchronous`, else without effect: how long saves in the background may fail with
  /// errc::io before the next call throws; 0: it throws the first error. Of a group, that of rank 0.
  std::chrono::duration<double> retry_for{60};
  when_older on_older_step = when_older::refuse;  ///< a step is below that of the newest checkpoint
  /// A save or merge in the background that makes no progress for this long, above 0, is reported, once, as the event
  /// `hanging`: by `step`, and by calls of the checkpointer that wait for it, its destructor included. Not by
  /// `save_handle::wait`. Saves that the trainer waits for are not watched.
  std::optional<std::chrono::duration<double>> hang_timeout{};
  /// For the copy that `step` waits for: at most this many, the number of cores, and 8. 0: only the latter two.
  unsigned copy_threads = 0;
  /// Memory for the copy, at least 1 MiB. A larger state is copied in parts, each after the previous one is written:
  /// `step` returns when the last part is copied. A merge is cut by it, too. nullopt: no limit but what memory is left.
  std::optional<std::uint64_t> max_staging_bytes{};
  std::optional<double> max_bytes_per_second{};  ///< of saves and merges in the background, above 0; nullopt: no limit

  /// The part of the state that this rank writes in a group, in proportion to the weights of all ranks: less for a slow
  /// disk, or for ranks that share one. 0: this rank writes nothing. Not 0 for all.
  std::uint64_t rank_weight = 1;

  /// Compares another 1/200 of the state, at least 64 KiB of it, at each save: 63 % of it in 200 saves, 99 % in 1,000.
  /// Only with a group.
  cairn::replica_check replica_check = cairn::replica_check::report;

  /// How long a rank waits for the others, above 0: then its call throws errc::lost_rank, and so do all later ones.
  /// Only with a group.
  std::chrono::milliseconds rank_timeout{std::chrono::minutes(30)};

  signals preempt{};  ///< ask the trainer to stop, for example {SIGTERM, SIGUSR1}; default: none
  /// From the signal until the state must be saved; above 0. Only with `preempt`.
  std::chrono::duration<double> preempt_deadline{30};
  /// When the job ends, such as at its time limit. The last `step` after which there is time enough saves the state,
  /// and its result says `stop`: schedule::reservation decides which one that is. Leave the time that the process needs
  /// after that. Of a group, that of rank 0. nullopt: not known.
  std::optional<std::chrono::system_clock::time_point> until{};
};

}  // namespace cairn::inline v0_1
