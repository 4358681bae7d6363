// SPDX-License-Identifier: MIT
// A mutex, and which members it guards: clang checks it (-Wthread-safety).
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define CAIRN_THREAD_SAFETY(attribute) __attribute__((attribute))
#else
#define CAIRN_THREAD_SAFETY(attribute)
#endif
/// A member that is used with this mutex locked alone.
#define CAIRN_GUARDED_BY(mutex) CAIRN_THREAD_SAFETY(guarded_by(mutex))
/// A function that is called with this mutex locked.
#define CAIRN_REQUIRES(mutex) CAIRN_THREAD_SAFETY(requires_capability(mutex))

namespace cairn::inline v0_1::detail {

class CAIRN_THREAD_SAFETY(capability("mutex")) mutex {
  friend class mutex_lock;
  std::mutex held_;
};

/// Holds a mutex as long as it lives, but while it waits.
class CAIRN_THREAD_SAFETY(scoped_lockable) mutex_lock {
 public:
  explicit mutex_lock(mutex& of) CAIRN_THREAD_SAFETY(acquire_capability(of)) : held_(of.held_) {}
  ~mutex_lock() CAIRN_THREAD_SAFETY(release_capability()) {}
  mutex_lock(const mutex_lock&) = delete;
  mutex_lock& operator=(const mutex_lock&) = delete;

  /// Waits for a notification, or wakes up for no reason.
  void wait(std::condition_variable& changed) { changed.wait(held_); }
  /// The same; false after `end`.
  bool wait_until(std::condition_variable& changed, std::chrono::steady_clock::time_point end) {
    return changed.wait_until(held_, end) == std::cv_status::no_timeout;
  }

 private:
  std::unique_lock<std::mutex> held_;
};

}  // namespace cairn::inline v0_1::detail
