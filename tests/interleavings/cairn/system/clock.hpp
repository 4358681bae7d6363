// SPDX-License-Identifier: MIT
// In place of Cairn's header: in the threads of a scheduler, its time passes.
#pragma once

#include <chrono>
#include <thread>

#include "interleavings/scheduler.hpp"

namespace cairn::detail {

class stopwatch {
 public:
  [[nodiscard]] double seconds() const { return now() - begin_; }

 private:
  [[nodiscard]] static double now() {
    const auto* const scheduler = interleavings::scheduler::of_this_thread();
    return scheduler != nullptr ? scheduler->now() : 0;
  }

  double begin_ = now();
};

/// For the threads of no scheduler, as there.
[[nodiscard]] inline std::chrono::steady_clock::time_point later(std::chrono::steady_clock::time_point begin,
                                                                 double seconds) {
  const std::chrono::duration<double> wait(seconds < 1e6 ? seconds : 1e6);
  return begin + std::chrono::duration_cast<std::chrono::steady_clock::duration>(wait);
}

using waiting_time = stopwatch;  // no process is suspended

/// Not a call of the scheduler: who waits for other ranks calls their group, too.
inline void yield_processor() {}

inline void pause_for(std::chrono::microseconds time) {
  if (auto* const scheduler = interleavings::scheduler::of_this_thread())
    scheduler->pause(std::chrono::duration<double>(time).count());
  else
    std::this_thread::sleep_for(time);
}

}  // namespace cairn::detail
