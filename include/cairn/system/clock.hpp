// SPDX-License-Identifier: MIT
// Measures elapsed time, and lets it pass.
#pragma once

#include <chrono>
#include <thread>

namespace cairn::inline v0_1::detail {

/// Measures the seconds since its construction.
class stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// `seconds` after `begin`; at most 11 days, since a clock cannot add more to its time.
[[nodiscard]] inline std::chrono::steady_clock::time_point later(std::chrono::steady_clock::time_point begin,
                                                                 double seconds) {
  const std::chrono::duration<double> wait(seconds < 1e6 ? seconds : 1e6);
  return begin + std::chrono::duration_cast<std::chrono::steady_clock::duration>(wait);
}

/// Time spent polling. A gap of more than a second counts as one second: the process was suspended.
class waiting_time {
 public:
  [[nodiscard]] double seconds() {
    add(since_last_.seconds());
    since_last_ = {};
    return total_;
  }
  void add(double seconds) noexcept { total_ += seconds < 1 ? seconds : 1; }

 private:
  stopwatch since_last_;
  double total_ = 0;
};

/// Other threads that wait for a processor run first.
inline void yield_processor() { std::this_thread::yield(); }

/// The calling thread sleeps.
inline void pause_for(std::chrono::microseconds time) { std::this_thread::sleep_for(time); }

}  // namespace cairn::inline v0_1::detail
