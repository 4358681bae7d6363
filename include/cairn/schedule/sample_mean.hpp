// Means of samples, with their confidence intervals.
#pragma once

#include <cmath>
#include <limits>
#include <span>

namespace cairn::schedule {

/// A mean of some, and how far it may be from that of all.
struct sample_mean {
  double mean = 0;
  double standard_error = 0;  ///< infinite for fewer than two values

  /// Of the 95 % confidence interval, by the normal distribution: meant for 30 values and more.
  [[nodiscard]] double half_width() const noexcept { return 1.959964 * standard_error; }
  [[nodiscard]] double low() const noexcept { return mean - half_width(); }
  [[nodiscard]] double high() const noexcept { return mean + half_width(); }
};

/// Of independent values; the mean of none is 0. O(n).
[[nodiscard]] inline sample_mean mean_of(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const double each : values) sum += each;
  const double mean = values.empty() ? 0 : sum / n;
  for (const double each : values) squares += (each - mean) * (each - mean);
  return {mean, values.size() > 1 ? std::sqrt(squares / (n - 1) / n) : std::numeric_limits<double>::infinity()};
}

}  // namespace cairn::schedule
