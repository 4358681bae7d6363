// SPDX-License-Identifier: MIT
// The signal handler, and what it shares with a set of signals.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <initializer_list>
#include <mutex>
#include <thread>
#include <vector>

#include <signal.h>
#include <unistd.h>

#include "cairn/core/config.hpp"
#include "cairn/core/error.hpp"

namespace cairn::inline v0_1::detail {

/// The handler of all signals that are watched.
CAIRN_ONE_PER_PROCESS void on_signal(int number);

class CAIRN_ONE_PER_PROCESS signal_watch;

/// Where the handler finds the set of a signal.
struct CAIRN_ONE_PER_PROCESS signal_table {
  std::array<std::atomic<signal_watch*>, NSIG> watch{};
  std::atomic<int> handling{0};  // handlers that run now
  std::mutex changing;           // never taken by a handler
};
CAIRN_ONE_PER_PROCESS inline constinit signal_table signals_of_process;

/// Waits until no handler runs: one that still restores the earlier handlers of its set would also remove those of a
/// newer set. False after a second: a fork copies the count but not the threads, so in the child process a handler can
/// seem to run forever.
inline bool wait_for_handlers() noexcept {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (signals_of_process.handling.load() != 0) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

/// The signals of one set, their earlier handlers, and which arrived. `take` runs in signal handlers, on any thread.
class CAIRN_ONE_PER_PROCESS signal_watch {
 public:
  explicit signal_watch(std::initializer_list<int> numbers) {
    for (const int number : numbers) entries_.push_back({number, {}});
  }

  /// Makes `on_signal` the handler of each. After an exception `uninstall` restores those that were changed.
  void install() {
    const std::lock_guard lock(signals_of_process.changing);
    struct sigaction ours{};
    ours.sa_handler = &on_signal;
    ours.sa_flags = SA_RESTART | SA_ONSTACK;
    for (auto& each : entries_) {
      if (::sigaction(each.number, nullptr, &each.before) != 0)
        fail(errc::invalid, {"there is no signal ", each.number, " to handle"});
      const signal_watch* other = signals_of_process.watch[static_cast<std::size_t>(each.number)].load();
      if (other != nullptr && !other->taken_.load())
        fail(errc::invalid,
             {"signal ", each.number, " is in another cairn::signals already: use a copy of that one in both places"});
      sigaddset(&ours.sa_mask, each.number);
    }
    for (const auto& each : entries_) signals_of_process.watch[static_cast<std::size_t>(each.number)].store(this);
    wait_for_handlers();
    for (const auto& each : entries_) {
      if (::sigaction(each.number, &ours, nullptr) != 0)
        fail(errc::invalid, {"signal ", each.number, " cannot be handled"});
    }
  }

  /// Restores the earlier handlers, except where the program has installed another one since.
  void uninstall() noexcept {
    for (const auto& each : entries_) {
      if (each.number <= 0 || each.number >= NSIG) continue;
      auto& watch = signals_of_process.watch[static_cast<std::size_t>(each.number)];
      if (watch.load() != this) continue;  // never installed, or received and then replaced by a newer set
      restore(each);
      watch.store(nullptr);
    }
  }

  /// Called by the handler. The first signal is recorded, and the earlier handlers of all signals are restored. A
  /// second one, which can only come while the first is being handled, goes to its earlier handler; it is dropped if
  /// that has just been restored. In a forked child all signals go to the earlier handlers.
  void take(int number) noexcept {
    if (::getpid() != process_) {  // not `owner_process`: the signal may come right after the fork, or after a vfork
      for (const auto& each : entries_) restore(each);
      ::raise(number);  // when this handler has returned
      return;
    }
    if (!taken_.exchange(true)) {
      for (const auto& each : entries_) restore(each);
      arrival_.store(now(), std::memory_order_relaxed);
      number_.store(number, std::memory_order_release);
      return;
    }
    // A second signal while the first is handled. Raised again, it goes to the earlier handler, which `restore`
    // installs.
    for (const auto& each : entries_)
      if (each.number == number && restore(each)) ::raise(number);
  }

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

}  // namespace cairn::inline v0_1::detail
