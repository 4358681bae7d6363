// SPDX-License-Identifier: MIT
// Starts threads that leave signals to the threads of the program, and run on the cores of the process.
#pragma once

#include <csignal>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>

#include <pthread.h>
#include <signal.h>

#include "cairn/system/cores.hpp"

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
    return std::thread([cores = cores_of_new_thread(), run = std::decay_t<Work>(std::forward<Work>(work))]() mutable {
      if (!std::exchange(is_own_thread, true) && cores) use_cores(*cores);
      run();
    });
  } catch (const std::system_error& failure) {
    throw std::system_error(failure.code(), "cannot start a thread");
  }
}

}  // namespace cairn::inline v0_1::detail
