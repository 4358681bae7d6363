// What the trainer reports of a step, and what the checkpointer reports back.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace cairn {

/// What the trainer says of the step that it has done.
struct observation {
  std::uint64_t step = 0;
  std::optional<double> loss{};
  double workers = 1;                       ///< that train now: the job fails when one of them does
  std::map<std::string, double> metrics{};  ///< kept in the checkpoint with the loss, for retention and for people
};

/// What `step` did.
struct step_outcome {
  bool started = false;      ///< a copy of the state is being saved behind the training, or is saved
  bool skipped = false;      ///< a save was due, but the one before is still on its way
  bool stop = false;         ///< a signal asked to stop, and the state is saved: leave the loop
  double stall_seconds = 0;  ///< that the trainer waited
};

/// Totals over all saves of a checkpointer.
struct save_stats {
  std::uint64_t saves = 0;    ///< published
  std::uint64_t skipped = 0;  ///< due, but not made, or abandoned for a newer one
  std::uint64_t failed = 0;
  std::uint64_t merged = 0;
  std::uint64_t pruned = 0;
  double stall_seconds = 0;       ///< that the trainer waited in `step` and `save`
  double max_stall_seconds = 0;   ///< the longest of these
  double background_seconds = 0;  ///< of work behind the training: encoding, writing, merging, removing
  std::uint64_t state_bytes = 0;  ///< of what was published, before it was encoded
  std::uint64_t bytes = 0;        ///< of what was published, in files

  /// State bytes per byte in files; 0 before the first save.
  [[nodiscard]] double ratio() const noexcept {
    return bytes == 0 ? 0 : static_cast<double>(state_bytes) / static_cast<double>(bytes);
  }

  void stalled(double seconds) noexcept {
    stall_seconds += seconds;
    max_stall_seconds = std::max(max_stall_seconds, seconds);
  }
};

}  // namespace cairn
