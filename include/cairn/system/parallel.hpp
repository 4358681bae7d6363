// A loop over independent items on a few threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace cairn {

/// Threads to use when the user asks for 0: the machine's, at most 8 (memory bandwidth is spent by then).
[[nodiscard]] inline unsigned default_threads() noexcept {
  return std::clamp(std::thread::hardware_concurrency(), 1U, 8U);
}

/// Calls `body(item, worker)` for every item in [0, items) on up to `threads` threads, the caller's included;
/// items are taken in order. The first exception stops the hand-out of further items and is rethrown.
/// `worker` < threads.
template <class Body>
void parallel_for(std::size_t items, unsigned threads, const Body& body) {
  const auto workers = static_cast<unsigned>(std::min<std::size_t>(threads == 0 ? default_threads() : threads, items));
  if (workers <= 1) {
    for (std::size_t i = 0; i < items; ++i) body(i, 0U);
    return;
  }
  std::atomic<std::size_t> next{0};
  std::exception_ptr first_failure;
  std::mutex failing;
  const auto work = [&](unsigned worker) {
    try {
      for (std::size_t i = next++; i < items; i = next++) body(i, worker);
    } catch (...) {
      next = items;
      const std::lock_guard lock(failing);
      if (!first_failure) first_failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> team;
    team.reserve(workers - 1);
    for (unsigned w = 1; w < workers; ++w) {
      try {
        team.emplace_back(work, w);
      } catch (const std::system_error&) {
        break;  // no thread to be had: the others do the work
      }
    }
    work(0);
  }
  if (first_failure) std::rethrow_exception(first_failure);
}

}  // namespace cairn
