// SPDX-License-Identifier: MIT
// Notices signals that ask a process to stop, so that a training loop can poll for them.
#pragma once

#include <csignal>  // IWYU pragma: export: the names of signals
#include <initializer_list>
#include <memory>

#include "cairn/core/config.hpp"
#include "cairn/core/error.hpp"  // IWYU pragma: export: what it throws

namespace cairn::inline v0_1 {

namespace detail {
class signal_watch;
}

/// A set of signals that are noticed instead of ending the process, for as long as a copy of the set lives. Only the
/// first signal that arrives is noticed: then the earlier handlers of all signals of the set are restored, so that a
/// second one ends the process or calls the program's own handler. A second one that another thread receives while the
/// first is being handled either has this effect too, or counts as one with the first. Copies share what was received.
/// A handler that the program installs later stays. Thread-safe.
class signals {
 public:
  /// No signals: nothing is ever received.
  signals() = default;

  /// Notices these from now on, e.g. {SIGTERM, SIGUSR1}. errc::invalid, and nothing is changed, for a number that is no
  /// signal or cannot be handled (SIGKILL), and for one in another set that still waits for its first signal.
  signals(std::initializer_list<int> numbers);

  /// Is it a set of no signals?
  [[nodiscard]] bool is_empty() const noexcept { return watch_ == nullptr; }

  /// Has a signal arrived? Costs a few nanoseconds, for inner loops.
  [[nodiscard]] bool received() const noexcept { return number() != 0; }

  /// The signal that arrived; 0 if none has.
  [[nodiscard]] int number() const noexcept;

  /// Seconds since it arrived; 0 if none has.
  [[nodiscard]] double seconds_since() const noexcept;

 private:
  std::shared_ptr<detail::signal_watch> watch_;
};

}  // namespace cairn::inline v0_1
