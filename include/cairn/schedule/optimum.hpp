// The schedule that no other can beat: exact, for any objective, by dynamic programming.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cairn/core/config.hpp"
#include "cairn/schedule/course.hpp"
#include "cairn/schedule/early_stop.hpp"
#include "cairn/schedule/failures.hpp"
#include "cairn/schedule/objective.hpp"
#include "cairn/schedule/worth.hpp"

namespace cairn::schedule {

/// A job as its schedule is charged for it. An entry per boundary; all rise but `save`.
struct charges {
  std::vector<double> risk;         ///< the failures that count, expected before it
  std::vector<double> exposed;      ///< the same before a save begun there is published
  std::vector<double> work;         ///< the worth of all work before it
  std::vector<double> save;         ///< of a save there
  std::vector<std::uint32_t> next;  ///< the first boundary at which another save can begin
};

/// What a job's schedules are charged for, where waiting and work have this worth. What may come after an early stop counts as much as it is probable.
/// `failures` are taken at the age that a worker has when it has not failed before. Throws errc::invalid for a course that cannot be
/// or has 2^32 iterations. O(N).
/// `first_only`: only the job's first failure counts.
[[nodiscard]] CAIRN_INLINE charges charges_of(worth value, bool first_only, const course& job, const costs& saving,
                                              const any_failures& failures, const any_early_stop& stops);

/// The same under an objective.
[[nodiscard]] inline charges charges_of(objective what, const course& job, const costs& saving,
                                        const any_failures& failures, const any_early_stop& stops) {
  return charges_of(worth_of(what, job), what == objective::coci, job, saving, failures, stops);
}

/// The expected cost of saving at these boundaries, rising, each from 1 to N - 1: of the saves, and of the work lost since the newest
/// checkpoint that was published. Failures while lost work is done again are left out, a part of about f times the interval; so is
/// restoring, which does not depend on the schedule. O(saves + N).
[[nodiscard]] CAIRN_INLINE double expected_cost(const charges& of, std::span<const std::uint32_t> saves);

/// Boundaries to save at, and what that is expected to cost.
struct plan {
  std::vector<std::uint32_t> saves{};
  double cost = 0;
};

/// The plan of the least expected cost. With save i as the newest one, reaching save j costs b_i + g_j - W_i x_j with W and x rising,
/// so that the best i for each j is on a lower envelope of lines that is walked along once (derived; docs/scheduling.md). O(N).
[[nodiscard]] CAIRN_INLINE plan optimum(const charges& of);

}  // namespace cairn::schedule

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/schedule/optimum.ipp"  // IWYU pragma: keep
#endif
