// SPDX-License-Identifier: MIT
// Medians of repeated measurements and of their ratios, and a stopwatch.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace bench {

/// The middle value, the mean of the middle two, or NaN of nothing.
[[nodiscard]] inline double median(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

/// The median of top[i] / bottom[i]: a ratio of neighbours in time, so that slow phases of the machine cancel
/// out.
[[nodiscard]] inline double median_ratio(const std::vector<double>& top, const std::vector<double>& bottom) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(top.size(), bottom.size()); ++i)
    if (std::isfinite(top[i]) && std::isfinite(bottom[i])) ratios.push_back(top[i] / bottom[i]);
  return median(std::move(ratios));
}

/// Seconds that `work()` takes on the wall clock.
template <class Work>
[[nodiscard]] double seconds_of(Work&& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace bench
