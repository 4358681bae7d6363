// SPDX-License-Identifier: MIT
// Cairn's threads: how they are started, on which cores they run, and loops over independent items on a few of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <thread>

#include <sched.h>

namespace cairn::inline v0_1::detail {

/// The cores that the calling thread may use; nothing where there are more than 1,024.
[[nodiscard]] std::optional<cpu_set_t> cores_of_thread() noexcept;

/// Moves the calling thread to `cores`, unless it may use none of them.
void use_cores(const cpu_set_t& cores) noexcept;
void use_cores(const std::set<unsigned>& numbers) noexcept;

/// What `taskset`, mpirun or Slurm gave to the process, unless the main thread was pinned before this was initialised.
extern const std::optional<cpu_set_t> cores_at_start;

/// `cores_at_start`, and the cores on which OpenMP runs its threads: it keeps to those that the process had before.
[[nodiscard]] std::optional<cpu_set_t> cores_of_process();

/// A thread that runs `work` and blocks all signals but those that its own faults raise, and SIGPROF, with which
/// profilers count: other signals are for the threads of the program. It runs on the cores of the process; one that a
/// thread of Cairn starts, on those of that. Throws std::system_error, as std::thread does, whose message says that a
/// thread cannot be started.
[[nodiscard]] std::thread start_thread(std::function<void()> work);

/// The number of threads that 0 stands for: that of the cores of the process, but at most 8, which are enough for the
/// whole bandwidth of the memory.
[[nodiscard]] unsigned default_threads() noexcept;

/// The number of threads that an option asks for: at least 1.
[[nodiscard]] inline unsigned threads_of(unsigned option) noexcept { return option == 0 ? default_threads() : option; }

/// Calls `body(item, worker)` for every item in [0, items) on up to `threads` threads, the caller's included. Items are
/// taken in order; `worker` < threads. The first exception stops the loop and is rethrown.
void parallel_for(std::size_t items, unsigned threads,
                  const std::function<void(std::size_t item, unsigned worker)>& body);

/// Items of at least this many bytes are worth all threads.
inline constexpr std::uint64_t large_item_bytes = std::uint64_t{4} << 20U;

/// Calls `body(item, threads)` for every item in [0, items): for large ones one at a time, with all threads; for
/// smaller ones in parallel, with one thread each.
void parallel_by_size(std::size_t items, unsigned threads,
                      const std::function<std::uint64_t(std::size_t item)>& bytes_of,
                      const std::function<void(std::size_t item, unsigned threads)>& body);

}  // namespace cairn::inline v0_1::detail
