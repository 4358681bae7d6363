// SPDX-License-Identifier: MIT
// Definitions of parallel.hpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "cairn/system/parallel.hpp"
#include "cairn/system/start_thread.hpp"

namespace cairn::inline v0_1::detail {

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
