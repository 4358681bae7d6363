// What saving has cost a run so far, and what it got for that.
#pragma once

#include <algorithm>
#include <cstdint>

namespace cairn {

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
