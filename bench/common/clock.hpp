// SPDX-License-Identifier: MIT
// The clock that all processes of the machine share, and those of the work of a thread and of a process.
#pragma once

#include <chrono>

#include <time.h>

namespace bench {

/// Seconds on the clock that all processes share.
[[nodiscard]] inline double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

[[nodiscard]] inline double seconds_on(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Seconds that the calling thread has had a core.
[[nodiscard]] inline double thread_cpu_seconds() { return seconds_on(CLOCK_THREAD_CPUTIME_ID); }

/// Seconds that all threads of the process have had cores.
[[nodiscard]] inline double process_cpu_seconds() { return seconds_on(CLOCK_PROCESS_CPUTIME_ID); }

}  // namespace bench
