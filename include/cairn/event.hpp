// SPDX-License-Identifier: MIT
// What a checkpointer reports to its observer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "cairn/core/config.hpp"
#include "cairn/core/error.hpp"

namespace cairn::inline v0_1 {

/// One thing that happened. `what` says which of the other members have a meaning.
struct event {
  /// The kinds of events.
  enum class kind : std::uint8_t {
    started,          ///< a save of a state of `total` bytes begins
    staged_in_parts,  ///< the save is made in parts, as the memory does not hold all of it: `message` says which limit
    /// The state, in a group the share of this rank, is copied: `bytes` of `total`. The trainer waited `seconds`.
    copied,
    anchored,   ///< a checkpoint becomes whole instead of a delta, as its parent cannot be used: `message` says why
    encoded,    ///< `total` bytes of state, in a group of this rank's share, became `bytes`, in `seconds`
    progress,   ///< `bytes` of `total` are written, after encoding
    written,    ///< `bytes` are in files, not yet published, in `seconds`
    published,  ///< the checkpoint is complete, if durable on disk: `bytes`, `seconds` after it started
    skipped,    ///< a save was due and is not made, or was cancelled: `message` is the reason
    failed,     ///< a save, merge, copy, export, removal of a checkpoint or member of the policy failed: `message`
    restored,   ///< a state was loaded: `bytes` in `seconds`; `message` has load_report::resized and replaced
    nothing_restored,  ///< there is no checkpoint to restore, as on the first run: `message` says what is missing
    fell_back,         ///< a checkpoint could not be restored, and the next one is tried: `message`
    merged,            ///< deltas became one, or a whole checkpoint: `bytes` now, in `seconds`; `message` says how many
    exported,          ///< observers::exporter exported `bytes` of arrays, in `seconds`, to the directory `message`
    pruned,            ///< a checkpoint of `bytes` was removed: `message` is the reason
    stopping,          ///< a signal or the time limit, named by `message`, asks the trainer to stop within `seconds`
    hanging,           ///< the save or merge in the background has made no progress for `seconds`
    differing,  ///< ranks hold different values of a replicated array: `message` has paths and ranks (replica_check)
    /// A checkpoint was copied to another place of cairn::levels: `bytes` of files, in `seconds`. With
    /// each_host_options::partner or `parity` at each rank, when it has sent and received all.
    promoted,
    /// Once per copy, only with level_options::every: the next copy to that place is due before this one has ended.
    lagging,
    not_finite,  ///< the loss of a step is NaN or infinite; again only after a finite one, or a restore: `message`
    /// Once: a codec rule matches no leaf, no checkpoint has the metric of `keep_best`, or there are too few hosts for
    /// each_host_options::partner or `parity`: `message`.
    unmatched
  };

  kind what{};  ///< the kind of this event
  /// Its path; that of the store if the event is about several or none.
  std::string checkpoint{};
  std::uint64_t step = 0;   ///< of the checkpoint
  std::uint64_t bytes = 0;  ///< as the kind says
  std::uint64_t total = 0;  ///< bytes in all, as the kind says
  double seconds = 0;       ///< as the kind says
  std::string message{};    ///< without "cairn: ", with which error::what() begins
  /// Of the error that `message` is the text of, if it is one.
  std::optional<errc> code{};
};

/// Called with every event, one at a time and those of one save in order, from the trainer's thread or from those in
/// the background: an observer must guard what it shares with the trainer. It must not call the checkpointer or wait
/// for a save_handle, which may be waiting for it. What it throws is dropped.
using observer = std::function<void(const event&)>;

[[nodiscard]] constexpr std::string_view name(event::kind what) noexcept {
  constexpr std::string_view names[] = {"started",  "staged in parts",  "copied",    "anchored",  "encoded",
                                        "progress", "written",          "published", "skipped",   "failed",
                                        "restored", "nothing restored", "fell back", "merged",    "exported",
                                        "pruned",   "stopping",         "hanging",   "differing", "promoted",
                                        "lagging",  "not finite",       "unmatched"};
  static_assert(std::size(names) == static_cast<std::size_t>(event::kind::unmatched) + 1);
  const auto number = static_cast<std::size_t>(what);
  return number < std::size(names) ? names[number] : "unknown";
}

namespace detail {

/// Calls an observer, if there is one. What it throws is dropped.
inline void notify(const observer& on_event, const event& what) noexcept {
  try {
    if (on_event) on_event(what);
  } catch (...) {
    return;
  }
}

}  // namespace detail
}  // namespace cairn::inline v0_1
