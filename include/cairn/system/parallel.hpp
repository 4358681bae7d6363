// SPDX-License-Identifier: MIT
// A loop over independent items on a few threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace cairn::inline v0_1::detail {

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
