// SPDX-License-Identifier: MIT
// Starts threads that leave signals to the threads of the program, and run on the cores of the process.
#pragma once

#include <csignal>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

namespace cairn::inline v0_1::detail {

// Of OpenMP, where the program has it: with OMP_PROC_BIND it pins the main thread before the program begins.
extern "C" {
[[gnu::weak]] int cairn_openmp_places() noexcept asm("omp_get_num_places");
[[gnu::weak]] int cairn_openmp_cores_of_place(int place) noexcept asm("omp_get_place_num_procs");
[[gnu::weak]] void cairn_openmp_list_cores(int place, int* cores) noexcept asm("omp_get_place_proc_ids");
}

/// The cores that the calling thread may use; nothing where there are more than 1,024.
[[nodiscard]] inline std::optional<cpu_set_t> cores_of_thread() noexcept {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  return ::sched_getaffinity(0, sizeof cores, &cores) == 0 ? std::optional(cores) : std::nullopt;
}

/// Moves the calling thread to `cores`, unless it may use none of them.
inline void use_cores(const cpu_set_t& cores) noexcept {
  static_cast<void>(::sched_setaffinity(0, sizeof cores, &cores));
}
inline void use_cores(const std::set<unsigned>& numbers) noexcept {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  for (const auto number : numbers) CPU_SET(number, &cores);
  use_cores(cores);
}

/// What `taskset`, mpirun or Slurm gave to the process, unless the main thread was pinned before this was initialised.
inline const std::optional<cpu_set_t> cores_at_start = cores_of_thread();

/// `cores_at_start`, and the cores on which OpenMP runs its threads: it keeps to those that the process had before.
[[nodiscard]] inline std::optional<cpu_set_t> cores_of_process() {
  static const auto all = [] {
    auto cores = cores_at_start;
    const bool may_be_pinned = cores && CPU_COUNT(&*cores) < ::sysconf(_SC_NPROCESSORS_ONLN);
    if (!may_be_pinned || cairn_openmp_places == nullptr || cairn_openmp_list_cores == nullptr) return cores;
    for (int place = 0; place < cairn_openmp_places(); ++place) {
      std::vector<int> numbers(static_cast<std::size_t>(cairn_openmp_cores_of_place(place)));
      cairn_openmp_list_cores(place, numbers.data());
      for (const auto number : numbers)
        if (number >= 0 && number < CPU_SETSIZE) CPU_SET(number, &*cores);
    }
    return cores;
  }();
  return all;
}

/// Whether the calling thread is one of Cairn: those that it starts use the cores that it uses.
inline thread_local bool is_own_thread = false;

/// The cores of a thread that the calling thread starts.
[[nodiscard]] inline std::optional<cpu_set_t> cores_of_new_thread() {
  return is_own_thread ? cores_of_thread() : cores_of_process();
}

/// A thread that runs `work` and blocks all signals but those that its own faults raise, and SIGPROF, with which
/// profilers count. Throws std::system_error, as std::thread does, whose message says that a thread cannot be started.
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
