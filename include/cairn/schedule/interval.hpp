// Even intervals: Young's and Daly's formulas, and what becomes of them where their numbers make no sense.
#pragma once

#include <algorithm>
#include <cmath>

namespace cairn::schedule {

/// No policy that measures goes longer than this without a checkpoint, whatever its numbers say, in seconds.
inline constexpr double longest_interval = 3600;

/// A policy that does not know yet what a save costs makes its first one so many steps after the run began.
inline constexpr int probe_steps = 10;

/// An interval between `stall` and `longest_interval`; what is no number becomes the longest.
[[nodiscard]] inline double sane_interval(double seconds, double stall) noexcept {
  if (std::isnan(seconds)) return longest_interval;
  const double least = stall > 0 ? std::min(stall, longest_interval) : 0;
  return std::clamp(seconds, least, longest_interval);
}

/// Young (1974): sqrt(2 S M), in seconds. A negative stall is none. An MTBF of zero or less: save all the time; infinite: the longest
/// interval. What is no number, on either side: the longest.
[[nodiscard]] inline double young_interval(double stall, double mtbf) noexcept {
  if (std::isnan(stall) || std::isnan(mtbf)) return longest_interval;
  return sane_interval(std::sqrt(2 * std::max(stall, 0.0) * std::max(mtbf, 0.0)), stall);
}

/// Daly (2006), equation 37: sqrt(2 S M) (1 + sqrt(S / 2M) / 3 + (S / 2M) / 9) - S for S < 2M, else M. The rest as with Young.
[[nodiscard]] inline double daly_interval(double stall, double mtbf) noexcept {
  if (std::isnan(stall) || std::isnan(mtbf)) return longest_interval;
  const double s = std::max(stall, 0.0), m = std::max(mtbf, 0.0);
  if (!(s < 2 * m)) return sane_interval(m, stall);
  const double part = s / (2 * m);
  return sane_interval(std::sqrt(2 * s * m) * (1 + std::sqrt(part) / 3 + part / 9) - s, stall);
}

/// Whether to save now, `since` seconds after the newest checkpoint, rather than one iteration later: the cost per second of an
/// interval x, proportional to best / x + x / best, is the same for both where best^2 = x (x + iteration).
[[nodiscard]] inline bool is_due(double since, double best, double iteration) noexcept {
  return since >= longest_interval || since * (since + iteration) >= best * best;
}

}  // namespace cairn::schedule
