// SPDX-License-Identifier: MIT
// A thread that runs jobs one after another.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "cairn/system/parallel.hpp"

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

  /// Runs `job`, which must not throw, on the thread; the caller must have waited for the previous job. Runs it in the
  /// caller's thread when the system cannot start another one.
  void start(std::function<void()> job) {
    try {
      if (!thread_.joinable()) thread_ = start_thread([this] { run(); });
    } catch (const std::system_error&) {
      return job();
    }
    const std::lock_guard lock(mutex_);
    job_ = std::move(job);
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

}  // namespace cairn::inline v0_1::detail
