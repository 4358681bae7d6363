// SPDX-License-Identifier: MIT
// A thread that runs jobs one after another.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "cairn/system/clock.hpp"
#include "cairn/system/mutex.hpp"
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
      const mutex_lock lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  /// Runs `job`, which must not throw, on the thread; the caller must have waited for the previous job. When the system
  /// cannot start another one, runs it in the caller's thread; or throws, where it `needs_caller` meanwhile.
  void start(std::function<void()> job, bool needs_caller = false) {
    try {
      if (!thread_.joinable()) thread_ = start_thread([this] { run(); });
    } catch (const std::system_error&) {
      if (needs_caller) throw;
      return job();
    }
    const mutex_lock lock(mutex_);
    job_ = std::move(job);
    changed_.notify_all();
  }

  /// Waits for the job for at most `longest`; true when it is done.
  [[nodiscard]] bool wait_for(std::chrono::duration<double> longest) const {
    const auto end = later(std::chrono::steady_clock::now(), longest.count());
    mutex_lock lock(mutex_);
    while (job_ && lock.wait_until(changed_, end)) {
    }
    return !job_;
  }

  /// Returns when the job is done; its effects are then visible.
  void wait() const {
    mutex_lock lock(mutex_);
    while (job_) lock.wait(changed_);
  }

 private:
  void run() {
    if (!cores_.empty()) use_cores(cores_);
    while (const auto* const job = next_job()) {
      (*job)();
      const mutex_lock lock(mutex_);
      job_ = nullptr;
      changed_.notify_all();
    }
  }
  /// Waits for it; null at the end. It stays as it is while it runs.
  [[nodiscard]] const std::function<void()>* next_job() {
    mutex_lock lock(mutex_);
    while (!ends_ && !job_) lock.wait(changed_);
    return job_ ? &job_ : nullptr;
  }

  mutable mutex mutex_;
  mutable std::condition_variable changed_;
  std::function<void()> job_ CAIRN_GUARDED_BY(mutex_);  // empty when done
  bool ends_ CAIRN_GUARDED_BY(mutex_) = false;
  std::set<unsigned> cores_;
  std::thread thread_;
};

}  // namespace cairn::inline v0_1::detail
