// A job as it is planned or expected, iteration by iteration.
#pragma once

#include <cstddef>
#include <vector>

namespace cairn::schedule {

/// Iterations are numbered from 0; boundary k lies before iteration k, and a save is made at a boundary. `steps` + 1 boundaries.
struct course {
  std::vector<double> seconds;    ///< of each iteration, > 0
  std::vector<double> loss{};     ///< at each boundary, one more than iterations; empty where no objective asks for it
  std::vector<double> workers{};  ///< in each iteration; empty: one

  [[nodiscard]] std::size_t steps() const noexcept { return seconds.size(); }
  [[nodiscard]] double workers_at(std::size_t iteration) const noexcept {
    return workers.empty() ? 1 : workers[iteration];
  }
};

/// What a save and a restore cost, in seconds.
struct costs {
  double stall = 0;       ///< that the trainer waits per save
  double background = 0;  ///< from the copy until it is published; no other save can begin meanwhile
  double slowdown = 0;    ///< what a second of `background` takes from the training
  double restore = 0;     ///< from a failure until the training goes on

  /// All that a save takes from the training.
  [[nodiscard]] double of_a_save() const noexcept { return stall + slowdown * background; }
};

}  // namespace cairn::schedule
