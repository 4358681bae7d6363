// Limits the bytes per second of a save in the background, and cancels the save from another thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>

namespace cairn {

/// Thrown by `rate_limiter` in the threads of a save that was cancelled. It is not an error.
struct save_abandoned {};

/// Limits one save to a number of bytes per second, and ends it when it is cancelled. Thread-safe.
class rate_limiter {
 public:
  using clock = std::chrono::steady_clock;

  /// A new save; 0: as fast as it goes.
  void begin(double bytes_per_second) {
    const std::lock_guard lock(mutex_);
    bytes_per_second_ = bytes_per_second;
    first_.reset();
    held_back_ = {};
    abandoned_ = false;
  }

  /// The save ends at its next `check` or `reach`.
  void abandon() {
    {
      const std::lock_guard lock(mutex_);
      abandoned_ = true;
    }
    changed_.notify_all();
  }

  /// No limit from now on.
  void hurry() {
    {
      const std::lock_guard lock(mutex_);
      bytes_per_second_ = 0;
    }
    changed_.notify_all();
  }

  /// Throws `save_abandoned` when it is.
  void check() const {
    if (abandoned_) throw save_abandoned();
  }

  /// Returns when `bytes` in all may have been written since the first call.
  void reach(std::uint64_t bytes) {
    std::unique_lock lock(mutex_);
    const auto now = clock::now();
    if (!first_) first_ = now;
    if (bytes_per_second_ > 0) {
      constexpr double longest = 1e6;  // seconds; a clock cannot add more to its time
      const double seconds = std::min(static_cast<double>(bytes) / bytes_per_second_, longest);
      const auto due = *first_ + std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(seconds));
      if (waiting_++ == 0) since_ = now;
      changed_.wait_until(lock, due, [&] { return abandoned_ || !(bytes_per_second_ > 0); });
      if (--waiting_ == 0) held_back_ += clock::now() - since_;
    }
    check();
  }

  /// Seconds of this save in which some thread waited for the limit.
  [[nodiscard]] double held_back() const {
    const std::lock_guard lock(mutex_);
    return held_back_.count();
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  double bytes_per_second_ = 0;
  std::optional<clock::time_point> first_;
  unsigned waiting_ = 0;  // threads
  clock::time_point since_;
  std::chrono::duration<double> held_back_{};
  std::atomic<bool> abandoned_{false};
};

}  // namespace cairn
