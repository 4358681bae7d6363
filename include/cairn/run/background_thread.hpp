// SPDX-License-Identifier: MIT
// The background thread of a checkpointer, and how fast it writes.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "cairn/core/error.hpp"
#include "cairn/system/start_thread.hpp"

namespace cairn::inline v0_1::detail {

/// The first job starts the thread. The destructor finishes the running job and joins.
class background_thread {
 public:
  /// `cores`: on which the thread runs, and those that it starts; empty: those of the process.
  explicit background_thread(std::set<unsigned> cores = {}) : cores_(std::move(cores)) {}
  background_thread(const background_thread&) = delete;
  background_thread& operator=(const background_thread&) = delete;
  ~background_thread() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  /// Runs `job`, which must not throw, on the thread; the caller must have waited for the previous job. Runs it in the caller's thread
  /// when the system cannot start another one.
  void start(std::function<void()> job) {
    try {
      if (!thread_.joinable()) thread_ = start_thread([this] { run(); });
    } catch (const std::system_error&) {
      return job();
    }
    {
      const std::lock_guard lock(mutex_);
      job_ = std::move(job);
    }
    changed_.notify_all();
  }

  /// Waits for the job for at most `longest`; true when it is done.
  [[nodiscard]] bool wait_for(std::chrono::duration<double> longest) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::min(longest, std::chrono::duration<double>(1e6)), [&] { return !job_; });
  }

  /// Returns when the job is done; its effects are then visible.
  void wait() const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !job_; });
  }

 private:
  void run() {
    if (!cores_.empty()) use_cores(cores_);
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return ends_ || job_; });
      if (!job_) return;
      lock.unlock();
      job_();
      lock.lock();
      job_ = nullptr;
      changed_.notify_all();
    }
  }

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::function<void()> job_;  // guarded by mutex_; empty when done
  bool ends_ = false;          // guarded by mutex_
  std::set<unsigned> cores_;
  std::thread thread_;
};

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
    {
      const std::lock_guard lock(mutex_);
      cancelled_ = true;
    }
    changed_.notify_all();
  }

  /// Removes the limit for the rest of this save.
  void remove_limit() {
    {
      const std::lock_guard lock(mutex_);
      bytes_per_second_.reset();
    }
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
