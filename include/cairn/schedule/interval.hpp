// SPDX-License-Identifier: MIT
// Young's and Daly's formulas for the interval between saves, and when a save is due. Invalid numbers give bounded results.
#pragma once

#include <algorithm>
#include <cmath>

#include "cairn/core/float_bits.hpp"

namespace cairn::inline v0_1::schedule {

/// In seconds: no policy that measures goes longer than this without a checkpoint, whatever it measures.
inline constexpr double longest_interval = 3600;

/// Steps from the beginning of a run to the first save of a policy that does not know yet what a save costs.
inline constexpr int probe_steps = 10;

/// `seconds`, limited to the range from `stall` to `longest_interval`; NaN becomes the longest.
[[nodiscard]] inline double sane_interval(double seconds, double stall) noexcept {
  if (cairn::detail::is_nan(seconds)) return longest_interval;
  const double least = stall > 0 ? (std::min)(stall, longest_interval) : 0;
  return std::clamp(seconds, least, longest_interval);
}

/// Young (1974): sqrt(2 S M), in seconds, for a stall S and an MTBF M. A negative stall counts as 0. An MTBF of zero or less gives the stall;
/// an infinite one, or NaN in either argument, gives the longest interval.
[[nodiscard]] inline double young_interval(double stall, double mtbf) noexcept {
  if (cairn::detail::is_nan(stall) || cairn::detail::is_nan(mtbf)) return longest_interval;
  return sane_interval(std::sqrt(2 * (std::max)(stall, 0.0) * (std::max)(mtbf, 0.0)), stall);
}

/// Daly (2006), equation 37: sqrt(2 S M) (1 + sqrt(S / (2 M)) / 3 + S / (2 M) / 9) - S for S < 2 M, else M. Invalid numbers as in
/// young_interval.
[[nodiscard]] inline double daly_interval(double stall, double mtbf) noexcept {
  if (cairn::detail::is_nan(stall) || cairn::detail::is_nan(mtbf)) return longest_interval;
  const double s = (std::max)(stall, 0.0), m = (std::max)(mtbf, 0.0);
  if (!(s < 2 * m)) return sane_interval(m, stall);
  const double part = s / (2 * m);
  return sane_interval(std::sqrt(2 * s * m) * (1 + std::sqrt(part) / 3 + part / 9) - s, stall);
}

/// Whether to save now, `since` seconds after the newest checkpoint, rather than one iteration later. The cost per second of an interval
/// x is proportional to best / x + x / best; it is the same for both where best^2 = x (x + iteration).
[[nodiscard]] inline bool is_due(double since, double best, double iteration) noexcept {
  return since >= longest_interval || since * (since + iteration) >= best * best;
}

}  // namespace cairn::inline v0_1::schedule
