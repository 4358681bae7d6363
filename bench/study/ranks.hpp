// SPDX-License-Identifier: MIT
// Threads that act as the ranks of a job.
#pragma once

#include <barrier>
#include <chrono>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace bench::study {

/// Seconds from when all ranks are prepared until the last one is done. `prepare(rank)` returns what is timed. What a
/// rank throws is rethrown.
[[nodiscard]] inline double seconds_of_ranks(unsigned ranks,
                                             const std::function<std::function<void()>(unsigned)>& prepare) {
  using clock = std::chrono::steady_clock;
  std::barrier meeting(static_cast<std::ptrdiff_t>(ranks));
  std::exception_ptr failure;
  std::mutex mutex;
  double seconds = 0;
  std::vector<std::thread> threads;
  for (unsigned rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      try {
        const auto act = prepare(rank);
        meeting.arrive_and_wait();
        const auto began = clock::now();
        act();
        meeting.arrive_and_wait();
        if (rank == 0) seconds = std::chrono::duration<double>(clock::now() - began).count();
      } catch (...) {
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
        meeting.arrive_and_drop();
      }
    });
  for (auto& each : threads) each.join();
  if (failure) std::rethrow_exception(failure);
  return seconds;
}

}  // namespace bench::study
