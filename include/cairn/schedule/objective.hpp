// Objectives: what a second of waiting and a second of lost work are worth, and what a failure counts for.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "cairn/core/config.hpp"
#include "cairn/schedule/course.hpp"
#include "cairn/schedule/early_stop.hpp"
#include "cairn/schedule/failures.hpp"

namespace cairn::schedule {

/// What is to be as small as possible. With c(t) the price of a second of waiting for a save and r(t) that of a second of lost work, f(t)
/// the rate of failures and s(t) the seconds of work since the newest checkpoint, the expected cost of a schedule is
///   sum over saves of c(t) S + integral of f(t) (the integral of r over the last s(t) seconds) dt.
/// l' is the slope of the loss and D its fall over the whole plan of T seconds; prices by the loss are scaled so that their mean over
/// the plan is 1, and they are those of `machine_time` where it does not fall at all. A loss that rises for a while costs nothing then.
enum class objective : std::uint8_t {
  machine_time,  ///< seconds that the machine does not train: c = r = 1
  progress,      ///< progress that is not made meanwhile: c = r = T |l'| / D
  exploratory,   ///< waiting counts as time, lost work as lost progress: c = 1, r = T |l'| / D (the premise of COCI)
  coci,  ///< c = r = T |l'| / D, saves counted for the whole run but failures only up to the first: f(t) exp(-integral of f)
  worker_seconds,  ///< c = r = the number of workers
};

inline constexpr objective objectives[] = {objective::machine_time, objective::progress, objective::exploratory,
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

/// An objective's prices of one job: what `optimum` and `expected_cost` need to know.
struct prices {
  std::vector<double> risk;               ///< failures that count, expected before each boundary
  std::vector<double> exposed;            ///< the same, until a save begun at that boundary is published
  std::vector<double> work;               ///< the worth of all work before each boundary
  std::vector<double> save;               ///< of a save at each boundary
  std::vector<std::uint32_t> free_again;  ///< the first boundary at which the next save can begin
};

/// The prices of a job. Throws errc::invalid where the course's lists have sizes that do not go together. O(N).
/// `failures` are those of one worker of the age that the job would have if it had not failed before.
[[nodiscard]] CAIRN_INLINE prices prices_of(objective what, const course& job, const costs& saving,
                                            const any_failures& failures, const any_early_stop& stops);

/// The expected cost of saving at these boundaries, rising, each within 1 and N - 1: every failure costs what was done since the newest
/// published checkpoint. Failures while work is done again are left out (a part of about f times the interval); restores are too,
/// which do not depend on the schedule. O(saves).
[[nodiscard]] CAIRN_INLINE double expected_cost(const prices& of, std::span<const std::uint32_t> saves);

/// Saves, and what they cost.
struct plan {
  std::vector<std::uint32_t> saves{};  ///< boundaries
  double cost = 0;
};

/// The schedule of the smallest expected cost. Dynamic programming over boundaries: the cost of the work from save i to save j is
/// b_i + g_j - W_i x_j, with W and x rising, so that the best i is on a lower envelope of lines that is passed once. O(N).
[[nodiscard]] CAIRN_INLINE plan optimum(const prices& of);

}  // namespace cairn::schedule

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/schedule/objective.ipp"  // IWYU pragma: keep
#endif
