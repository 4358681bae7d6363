// What a trainer says of a step, and what it is told about it.
#pragma once

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

}  // namespace cairn
