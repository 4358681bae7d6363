// SPDX-License-Identifier: MIT
// The clock that all processes of the machine share, and that of a thread's own work.
#pragma once

#include <chrono>

#include <time.h>

namespace bench {

/// Seconds on the clock that all processes share.
[[nodiscard]] inline double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Seconds that the calling thread has had a core.
[[nodiscard]] inline double thread_cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace bench
