// SPDX-License-Identifier: MIT
// Starts threads that leave signals to the threads of the program.
#pragma once

#include <csignal>
#include <system_error>
#include <thread>
#include <utility>

#include <pthread.h>
#include <signal.h>

namespace cairn::inline v0_1::detail {

/// A thread that runs `work` and blocks all signals but those that its own faults raise, and SIGPROF, with which profilers count. Throws
/// std::system_error, as std::thread does, whose message says that a thread cannot be started.
template <class Work>
[[nodiscard]] std::thread start_thread(Work&& work) {
  struct blocked_signals {
    blocked_signals() {
      sigset_t all;
      ::sigfillset(&all);
      for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGPROF}) ::sigdelset(&all, number);
      ::pthread_sigmask(SIG_BLOCK, &all, &before);
    }
    ~blocked_signals() { ::pthread_sigmask(SIG_SETMASK, &before, nullptr); }
    blocked_signals(const blocked_signals&) = delete;
    blocked_signals& operator=(const blocked_signals&) = delete;
    sigset_t before{};
  };
  const blocked_signals blocked;  // a new thread inherits the mask
  try {
    return std::thread(std::forward<Work>(work));
  } catch (const std::system_error& failure) {
    throw std::system_error(failure.code(), "cannot start a thread");
  }
}

}  // namespace cairn::inline v0_1::detail
