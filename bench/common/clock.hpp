// The clock that all processes of the machine share.
#pragma once

#include <chrono>

namespace bench {

/// Seconds on the clock that all processes share.
[[nodiscard]] inline double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace bench
