// What to do with the time that a signal leaves: how long the save on its way may take, and how the state is stored then.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "cairn/run/record.hpp"

namespace cairn::detail {

struct preempt_plan {
  double grace_seconds = 0;  ///< for the save that is on its way; what takes longer is abandoned for the newer state
  bool as_raw = false;       ///< store the state as it is: there is no time to encode it
};

/// A plan for `seconds_left` and a state of so many bytes, judged by the newest save. Encoding is given up when it would take
/// too long and storing the state as it is would not take as long. The save on its way gets what the newer one does not need, as far
/// as that is known, else half; all of the time when there is not enough for the newer one anyhow.
[[nodiscard]] inline preempt_plan plan_preempt(double seconds_left, std::uint64_t state_bytes,
                                               const std::optional<published_save>& newest) {
  const double left = std::max(seconds_left, 0.0);
  if (!newest || !newest->report || newest->report->state_bytes == 0 || newest->report->bytes == 0)
    return {.grace_seconds = left / 2};
  const auto& report = *newest->report;
  const auto bytes = static_cast<double>(state_bytes);
  const auto free = [&](double seconds) {
    return std::max(seconds - newest->held_back, 0.0);
  };  // there is no limit then
  const double encoded = bytes * free(report.seconds) / static_cast<double>(report.state_bytes);
  const double raw = bytes * free(report.write_seconds) / static_cast<double>(report.bytes);
  preempt_plan plan{.as_raw = encoded > left && raw < encoded};
  const double needed = plan.as_raw ? raw : encoded;
  plan.grace_seconds = needed < left ? left - needed : left;
  return plan;
}

}  // namespace cairn::detail
