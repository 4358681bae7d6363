// Measures elapsed time.
#pragma once

#include <chrono>

namespace cairn::detail {

/// Measures the seconds since its construction.
class stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace cairn::detail
