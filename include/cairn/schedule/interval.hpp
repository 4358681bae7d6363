// SPDX-License-Identifier: MIT
// Young's and Daly's formulas for the interval between saves, and when a save is due.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>

#include "cairn/core/float_bits.hpp"

namespace cairn::inline v0_1::schedule {

/// In seconds: unless its options say so, no measuring policy goes longer without a checkpoint, whatever it measures.
inline constexpr double longest_interval = 3600;

/// A longest interval that is given, in seconds. Not positive: `longest_interval`.
[[nodiscard]] inline double sane_longest(std::chrono::duration<double> given) noexcept {
  return cairn::detail::is_positive(given.count()) ? given.count() : longest_interval;
}

/// Steps from the beginning of a run to the first save of a policy that does not know yet what a save costs.
inline constexpr int probe_steps = 10;

/// Young (1974): sqrt(2 S M), in seconds, for a stall S and an MTBF M, but at least S. A negative argument counts as 0.
/// An infinite MTBF, or NaN in either argument, gives infinity.
[[nodiscard]] inline double young_interval(double stall, double mtbf) noexcept {
  const double s = (std::max)(stall, 0.0), m = (std::max)(mtbf, 0.0);
  if (cairn::detail::is_nan(stall) || !cairn::detail::is_finite(m)) return cairn::detail::infinite();
  return (std::max)(s, std::sqrt(2 * s * m));  // s also where that is infinity times 0
}

/// Daly (2006), equation 37: sqrt(2 S M) (1 + sqrt(S / (2 M)) / 3 + S / (2 M) / 9) - S for S < 2 M, else M; but at
/// least S. Invalid numbers as in young_interval.
[[nodiscard]] inline double daly_interval(double stall, double mtbf) noexcept {
  const double young = young_interval(stall, mtbf), s = (std::max)(stall, 0.0);
  if (!(s < 2 * mtbf) || cairn::detail::is_infinite(young)) return young;
  const double part = s / (2 * mtbf);
  return (std::max)(young * (1 + std::sqrt(part) / 3 + part / 9) - s, s);
}

/// Whether to save now, `since` seconds after the newest checkpoint, rather than one iteration later. The cost per
/// second of an interval x is proportional to best / x + x / best; it is equal for both if best^2 = x (x + iteration).
[[nodiscard]] inline bool is_due(double since, double best, double iteration) noexcept {
  return since * (since + iteration) >= best * best;
}

}  // namespace cairn::inline v0_1::schedule
