// SPDX-License-Identifier: MIT
// Limits the bytes per second of a save or merge in the background, and cancels it from another thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>

#include "cairn/core/error.hpp"

namespace cairn::inline v0_1::detail {

/// Limits one save to a number of bytes per second, and ends it when it is cancelled. Thread-safe.
class rate_limiter {
 public:
  using clock = std::chrono::steady_clock;

  /// A new save begins. nullopt: no limit.
  void begin(std::optional<double> bytes_per_second) {
    const std::lock_guard lock(mutex_);
    bytes_per_second_ = bytes_per_second;
    first_.reset();
    held_back_ = {};
    cancelled_ = false;
  }

  /// The bytes are counted from 0 again, as for the merge after a save. A cancellation stays.
  void count_anew() {
    const std::lock_guard lock(mutex_);
    first_.reset();
  }

  /// The save ends at its next `check` or `wait_until_allowed`.
  void cancel() {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    changed_.notify_all();
  }

  /// Removes the limit for the rest of this save.
  void remove_limit() {
    const std::lock_guard lock(mutex_);
    bytes_per_second_.reset();
    changed_.notify_all();
  }

  /// Throws errc::cancelled after `cancel`.
  void check() const {
    if (cancelled_) fail(errc::cancelled, {"cancelled for a newer save or the end of the run"});
  }

  /// Returns as soon as the limit allows `bytes` bytes in all since the first call. Throws as `check` does.
  void wait_until_allowed(std::uint64_t bytes) {
    std::unique_lock lock(mutex_);
    const auto now = clock::now();
    if (!first_) first_ = now;
    if (bytes_per_second_) {
      constexpr double longest = 1e6;  // seconds; a clock cannot add more to its time
      const double seconds = std::min(static_cast<double>(bytes) / *bytes_per_second_, longest);
      const auto due = *first_ + std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(seconds));
      if (waiting_++ == 0) since_ = now;
      changed_.wait_until(lock, due, [&] { return cancelled_ || !bytes_per_second_; });
      if (--waiting_ == 0) held_back_ += clock::now() - since_;
    }
    check();
  }

  /// Does a thread wait for the limit now?
  [[nodiscard]] bool is_holding() const {
    const std::lock_guard lock(mutex_);
    return waiting_ != 0;
  }

  /// Seconds of this save in which some thread waited for the limit.
  [[nodiscard]] double held_back() const {
    const std::lock_guard lock(mutex_);
    return held_back_.count();
  }

 private:
  mutable std::mutex mutex_;  // guards all members below but cancelled_
  std::condition_variable changed_;
  std::optional<double> bytes_per_second_;
  std::optional<clock::time_point> first_;  // call of `wait_until_allowed`
  unsigned waiting_ = 0;                    // threads
  clock::time_point since_;                 // the first of these waits
  std::chrono::duration<double> held_back_{};
  std::atomic<bool> cancelled_{false};
};

}  // namespace cairn::inline v0_1::detail
