// Objectives: what is to be as small as possible.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace cairn::schedule {

/// With c(t) the price of a second of waiting for a save and r(t) that of a second of lost work, f(t) the rate of failures and s(t) the
/// seconds of work since the newest checkpoint, a schedule is expected to cost
///   sum over saves of c(t) S + integral of f(t) (the integral of r over the last s(t) seconds) dt.
/// l' is the slope of the loss and D its fall over the whole plan of T seconds; prices by the loss are scaled so that their mean over
/// the plan is 1, and they are those of `machine_time` where it does not fall at all. A loss that rises for a while costs nothing then.
enum class objective : std::uint8_t {
  machine_time,  ///< seconds that the machine does not train: c = r = 1
  progress,      ///< progress that is not made meanwhile: c = r = T |l'| / D
  exploratory,   ///< waiting counts as time, lost work as lost progress: c = 1, r = T |l'| / D (the premise of COCI)
  coci,  ///< c = r = T |l'| / D, saves counted for the whole run but failures only up to the first: f exp(-integral of f)
  worker_seconds  ///< c = r = the number of workers
};

inline constexpr std::array objectives{objective::machine_time, objective::progress, objective::exploratory,
                                       objective::coci, objective::worker_seconds};

[[nodiscard]] constexpr std::string_view name(objective what) noexcept {
  switch (what) {
    case objective::machine_time:
      return "machine_time";
    case objective::progress:
      return "progress";
    case objective::exploratory:
      return "exploratory";
    case objective::coci:
      return "coci";
    case objective::worker_seconds:
      return "worker_seconds";
  }
  return "unknown";
}

}  // namespace cairn::schedule
