// SPDX-License-Identifier: MIT
// The cores on which threads of Cairn run: those of the process, though the thread that starts them may be pinned to one.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <optional>
#include <set>
#include <vector>

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

/// What `taskset`, mpirun or Slurm have given to the process, unless the main thread was pinned before this was
/// initialised.
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

}  // namespace cairn::inline v0_1::detail
