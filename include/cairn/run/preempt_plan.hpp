// SPDX-License-Identifier: MIT
// Plans what is done between a signal, or the approach of the time limit, and the deadline: how long the running save
// may take, and how the newest state is then stored.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "cairn/run/record.hpp"

namespace cairn::inline v0_1::detail {

/// In place of the number of a signal: the job ends soon (see `until`).
inline constexpr int time_limit = 1 << 16;

/// What asks the trainer to stop, for people.
[[nodiscard]] inline std::string reason_to_stop(int signal) {
  if (signal == time_limit) return "the time limit";
  return "signal " + std::to_string(signal) + ", " + ::strsignal(signal);
}

struct preempt_plan {
  double grace_seconds = 0;  ///< that the running save gets before it is cancelled
  bool as_raw = false;       ///< store the state raw: there is no time to encode it
};

/// A plan for `seconds_left` and a state of `state_bytes`, estimated from the newest save. The state is stored raw when
/// encoding would take too long and storing it raw would take less. The running save gets the time that the new one
/// does not need: half of it when there is no estimate, and all of it when it is too short for the new one anyway.
[[nodiscard]] inline preempt_plan plan_preempt(double seconds_left, std::uint64_t state_bytes,
                                               const std::optional<published_save>& newest) {
  const double left = std::max(seconds_left, 0.0);
  if (!newest || !newest->report || newest->report->state_bytes == 0 || newest->report->bytes == 0)
    return {.grace_seconds = left / 2};
  const auto& report = *newest->report;
  const auto bytes = static_cast<double>(state_bytes);
  // The save after a signal is not limited to a number of bytes per second.
  const auto unlimited = [&](double seconds) { return std::max(seconds - newest->held_back, 0.0); };
  const double encoded = bytes * unlimited(report.seconds) / static_cast<double>(report.state_bytes);
  const double raw = bytes * unlimited(report.write_seconds) / static_cast<double>(report.bytes);
  preempt_plan plan{.as_raw = encoded > left && raw < encoded};
  const double needed = plan.as_raw ? raw : encoded;
  plan.grace_seconds = needed < left ? left - needed : left;
  return plan;
}

}  // namespace cairn::inline v0_1::detail
