// What waiting and work are worth under an objective, along a job.
#pragma once

#include <vector>

#include "cairn/core/config.hpp"
#include "cairn/schedule/course.hpp"
#include "cairn/schedule/objective.hpp"

namespace cairn::schedule {

/// Both have an entry per boundary; see `objective` for the prices c and r.
struct worth {
  std::vector<double> wait;  ///< c: the price of a second of waiting there
  std::vector<double> work;  ///< the worth of all work before it: the integral of r; rising
};

/// Throws errc::invalid where the course's lists have sizes that do not go together, or there is a duration that is no positive number.
/// O(N).
[[nodiscard]] CAIRN_INLINE worth worth_of(objective what, const course& job);

}  // namespace cairn::schedule

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/schedule/worth.ipp"  // IWYU pragma: keep
#endif
