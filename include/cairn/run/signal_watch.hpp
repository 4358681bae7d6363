// SPDX-License-Identifier: MIT
// The signal handler, and what it shares with a set of signals.
#pragma once

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <initializer_list>
#include <mutex>
#include <vector>

#include <signal.h>
#include <unistd.h>

#include "cairn/core/config.hpp"

namespace cairn::inline v0_1::detail {

/// The handler of all signals that are watched.
void on_signal(int number);

/// The signals of one set, their earlier handlers, and which arrived. `take` runs in signal handlers, on any thread.
class CAIRN_ONE_PER_PROCESS signal_watch {
 public:
  explicit signal_watch(std::initializer_list<int> numbers) {
    for (const int number : numbers) entries_.push_back({number, {}});
  }

  /// Makes `on_signal` the handler of each. After an exception `uninstall` restores those that were changed.
  void install();

  /// Restores the earlier handlers, except where the program has installed another one since.
  void uninstall() noexcept;

  /// Called by the handler. The first signal is recorded, and the earlier handlers of all signals are restored. A
  /// second one, which can only come while the first is being handled, goes to its earlier handler; it is dropped if
  /// that has just been restored. In a forked child all signals go to the earlier handlers.
  void take(int number) noexcept;

  [[nodiscard]] int number() const noexcept { return number_.load(std::memory_order_relaxed); }
  [[nodiscard]] double seconds_since() const noexcept {
    if (number_.load(std::memory_order_acquire) == 0) return 0;
    return 1e-9 * static_cast<double>(now() - arrival_.load(std::memory_order_relaxed));
  }

 private:
  struct entry {
    int number;
    struct sigaction before;
  };

  /// True if the handler was ours.
  static bool restore(const entry& each) noexcept {
    struct sigaction current{};
    if (::sigaction(each.number, nullptr, &current) != 0 || current.sa_handler != &on_signal) return false;
    return ::sigaction(each.number, &each.before, nullptr) == 0;
  }

  [[nodiscard]] static std::int64_t now() noexcept {
    timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    return std::int64_t{1'000'000'000} * time.tv_sec + time.tv_nsec;
  }

  std::vector<entry> entries_;
  const pid_t process_ = ::getpid();
  std::atomic<bool> taken_{false};
  std::atomic<int> number_{0};
  std::atomic<std::int64_t> arrival_{0};  // CLOCK_MONOTONIC, in nanoseconds
  static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free &&
                std::atomic<std::int64_t>::is_always_lock_free && std::atomic<signal_watch*>::is_always_lock_free);
};

/// Where the handler finds the set of a signal.
struct CAIRN_ONE_PER_PROCESS signal_table {
  std::array<std::atomic<signal_watch*>, NSIG> watch{};
  std::atomic<int> handling{0};  // handlers that run now
  std::mutex changing;           // never taken by a handler
};
CAIRN_ONE_PER_PROCESS inline constinit signal_table signals_of_process;

}  // namespace cairn::inline v0_1::detail
