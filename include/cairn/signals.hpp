// Notices signals that ask a process to stop, so that a training loop can poll for them.
#pragma once

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <signal.h>

#include "cairn/core/error.hpp"

namespace cairn {
namespace detail {

inline void on_signal(int number);

/// The signals of one set, what was done about them before, and what arrived. `take` runs in handlers, on any thread.
class signal_watch {
 public:
  explicit signal_watch(std::initializer_list<int> numbers) {
    for (const int number : numbers) entries_.push_back({number, {}});
  }

  /// Makes `on_signal` the handler of each; `uninstall` also mends what an error left half done.
  void install();

  /// What was there before is there again, but where somebody else has put another handler since.
  void uninstall() noexcept;

  void take(int number) noexcept;

  [[nodiscard]] bool taken() const noexcept { return taken_.load(); }
  [[nodiscard]] int number() const noexcept { return number_.load(std::memory_order_relaxed); }
  [[nodiscard]] double seconds_since() const noexcept {
    if (number_.load(std::memory_order_acquire) == 0) return 0;
    return 1e-9 * static_cast<double>(now() - arrival_.load(std::memory_order_relaxed));
  }

  signal_watch* next_parked = nullptr;

 private:
  struct entry {
    int number;
    struct sigaction before;
  };

  /// True when our handler was there.
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
  std::atomic<bool> taken_{false};
  std::atomic<int> number_{0};
  std::atomic<std::int64_t> arrival_{0};  // CLOCK_MONOTONIC, in nanoseconds
  static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free &&
                std::atomic<std::int64_t>::is_always_lock_free && std::atomic<signal_watch*>::is_always_lock_free);
};

/// Where the handler finds the set that a signal belongs to.
struct signal_table {
  std::array<std::atomic<signal_watch*>, NSIG> watch{};
  std::atomic<int> handling{0};  // handlers that run now
  std::mutex changing;           // never taken by a handler
  signal_watch* parked = nullptr;
};
inline constinit signal_table signals_of_process;

inline void on_signal(int number) {
  const int kept = errno;
  signals_of_process.handling.fetch_add(1);
  if (signal_watch* watch = signals_of_process.watch[static_cast<std::size_t>(number)].load()) watch->take(number);
  signals_of_process.handling.fetch_sub(1);
  errno = kept;
}

inline void signal_watch::install() {
  const std::lock_guard lock(signals_of_process.changing);
  struct sigaction ours{};
  ours.sa_handler = &on_signal;
  ours.sa_flags = SA_RESTART | SA_ONSTACK;
  for (auto& each : entries_) {
    if (::sigaction(each.number, nullptr, &each.before) != 0)
      fail(errc::invalid, {"there is no signal ", std::to_string(each.number), " to handle"});
    const signal_watch* other = signals_of_process.watch[static_cast<std::size_t>(each.number)].load();
    if (other != nullptr && !other->taken())
      fail(errc::invalid, {"signal ", std::to_string(each.number),
                           " is in another cairn::signals already: use a copy of that one in both places"});
    sigaddset(&ours.sa_mask, each.number);
  }
  for (const auto& each : entries_) {
    signals_of_process.watch[static_cast<std::size_t>(each.number)].store(this);
    if (::sigaction(each.number, &ours, nullptr) != 0)
      fail(errc::invalid, {"signal ", std::to_string(each.number), " cannot be handled"});
  }
}

inline void signal_watch::uninstall() noexcept {
  for (const auto& each : entries_) {
    if (each.number <= 0 || each.number >= NSIG) continue;
    auto& watch = signals_of_process.watch[static_cast<std::size_t>(each.number)];
    if (watch.load() != this) continue;  // never installed, or received and taken over by a newer set
    restore(each);
    watch.store(nullptr);
  }
}

inline void signal_watch::take(int number) noexcept {
  if (!taken_.exchange(true)) {
    for (const auto& each : entries_) restore(each);
    arrival_.store(now(), std::memory_order_relaxed);
    number_.store(number, std::memory_order_release);
    return;
  }
  // A second one, which overtook the handler of the first: delivered again, to what was there before, on return.
  for (const auto& each : entries_)
    if (each.number == number && restore(each)) ::raise(number);
}

/// Ends a watch. One that a handler may still be using is never freed; that takes a signal in this very moment.
inline void drop(signal_watch* watch) noexcept {
  const std::lock_guard lock(signals_of_process.changing);
  watch->uninstall();
  if (signals_of_process.handling.load() == 0) {
    delete watch;
  } else {
    watch->next_parked = signals_of_process.parked;
    signals_of_process.parked = watch;
  }
}

}  // namespace detail

/// A set of signals that are noticed instead of ending the process, for as long as a copy of the set lives. Only the
/// first one that arrives is: with it all signals of the set do again what they did before, so that a second one ends
/// the process, or calls the program's own handler. Signals that arrive while the first is being noticed count as one
/// with it. Copies share what was received. A handler that the program installs over ours stays. Thread-safe.
class signals {
 public:
  /// No signals: nothing is ever received.
  signals() = default;

  /// Notices these from now on, e.g. {SIGTERM, SIGUSR1}. errc::invalid, and nothing is changed, for a number that is no
  /// signal or cannot be handled (SIGKILL), and for one that another set has which still waits for its first signal.
  signals(std::initializer_list<int> numbers)
      : watch_(numbers.size() == 0 ? nullptr : new detail::signal_watch(numbers), drop{}) {
    if (watch_) watch_->install();
  }

  /// Has a signal arrived? A load or two, for inner loops.
  [[nodiscard]] bool received() const noexcept { return number() != 0; }

  /// The signal that arrived, 0 when none has.
  [[nodiscard]] int number() const noexcept { return watch_ ? watch_->number() : 0; }

  /// Seconds since it arrived, 0 when none has.
  [[nodiscard]] double seconds_since() const noexcept { return watch_ ? watch_->seconds_since() : 0; }

 private:
  struct drop {
    void operator()(detail::signal_watch* watch) const noexcept {
      if (watch != nullptr) detail::drop(watch);
    }
  };

  std::shared_ptr<detail::signal_watch> watch_;
};

}  // namespace cairn
