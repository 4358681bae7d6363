// SPDX-License-Identifier: MIT
// Definitions of parallel.hpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <csignal>
#include <exception>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "cairn/system/parallel.hpp"

namespace cairn::inline v0_1::detail {

// Of OpenMP, where the program has it: with OMP_PROC_BIND it pins the main thread before the program begins.
extern "C" {
[[gnu::weak]] int cairn_openmp_places() noexcept asm("omp_get_num_places");
[[gnu::weak]] int cairn_openmp_cores_of_place(int place) noexcept asm("omp_get_place_num_procs");
[[gnu::weak]] void cairn_openmp_list_cores(int place, int* cores) noexcept asm("omp_get_place_proc_ids");
}

std::optional<cpu_set_t> cores_of_thread() noexcept {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  return ::sched_getaffinity(0, sizeof cores, &cores) == 0 ? std::optional(cores) : std::nullopt;
}

void use_cores(const cpu_set_t& cores) noexcept { static_cast<void>(::sched_setaffinity(0, sizeof cores, &cores)); }

void use_cores(const std::set<unsigned>& numbers) noexcept {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  for (const auto number : numbers) CPU_SET(number, &cores);
  use_cores(cores);
}

const std::optional<cpu_set_t> cores_at_start = cores_of_thread();

std::optional<cpu_set_t> cores_of_process() {
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

std::thread start_thread(std::function<void()> work) {
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
    return std::thread([cores = cores_of_new_thread(), run = std::move(work)] {
      if (!std::exchange(is_own_thread, true) && cores) use_cores(*cores);
      run();
    });
  } catch (const std::system_error& failure) {
    throw std::system_error(failure.code(), "cannot start a thread");
  }
}

unsigned default_threads() noexcept {
  const auto cores = cores_of_new_thread();
  const auto count = cores ? static_cast<unsigned>(CPU_COUNT(&*cores)) : std::thread::hardware_concurrency();
  return std::clamp(count, 1U, 8U);
}

void parallel_for(std::size_t items, unsigned threads,
                  const std::function<void(std::size_t item, unsigned worker)>& body) {
  const auto workers = static_cast<unsigned>(std::min<std::size_t>(threads_of(threads), items));
  if (workers <= 1) {
    for (std::size_t i = 0; i < items; ++i) body(i, 0U);
    return;
  }
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr first_failure;  // guarded by mutex
  const auto work = [&](unsigned worker) {
    try {
      for (std::size_t i = next++; i < items; i = next++) body(i, worker);
    } catch (...) {
      next = items;
      const std::lock_guard lock(mutex);
      if (!first_failure) first_failure = std::current_exception();
    }
  };
  std::vector<std::thread> team;  // libc++ 19 has no std::jthread
  team.reserve(workers - 1);
  for (unsigned w = 1; w < workers; ++w) {
    try {
      team.push_back(start_thread([&work, w] { work(w); }));
    } catch (...) {
      break;  // no more threads, or no memory for one: those that run do the work
    }
  }
  work(0);
  for (auto& each : team) each.join();
  if (first_failure) std::rethrow_exception(first_failure);
}

void parallel_by_size(std::size_t items, unsigned threads,
                      const std::function<std::uint64_t(std::size_t item)>& bytes_of,
                      const std::function<void(std::size_t item, unsigned threads)>& body) {
  std::vector<std::size_t> small;
  for (std::size_t item = 0; item < items; ++item) {
    if (bytes_of(item) < large_item_bytes)
      small.push_back(item);
    else
      body(item, threads_of(threads));
  }
  parallel_for(small.size(), threads, [&](std::size_t i, unsigned) { body(small[i], 1); });
}

}  // namespace cairn::inline v0_1::detail
