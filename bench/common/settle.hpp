// SPDX-License-Identifier: MIT
// Brings the machine into the same state before every measurement: cores idle, a quiet disk, memory that is really
// there.
#pragma once

#include <chrono>
#include <cstddef>
#include <fstream>
#include <string>
#include <thread>

#include <sys/mman.h>
#include <unistd.h>

namespace bench {

namespace detail {

struct core_time {
  double idle = 0, all = 0;
};

[[nodiscard]] inline core_time core_time_now() {
  std::ifstream stat("/proc/stat");
  std::string word;
  stat >> word;  // "cpu", then user nice system idle iowait irq softirq steal
  core_time time;
  for (int i = 0; i < 8; ++i) {
    double ticks = 0;
    stat >> ticks;
    time.all += ticks;
    if (i == 3 || i == 4) time.idle += ticks;
  }
  return time;
}

}  // namespace detail

/// Waits until the cores have been idle for a fifth of a second, at most `limit`: a method with several threads would
/// else be compared on fewer cores than it has. True when they are idle.
inline bool wait_until_idle(std::chrono::duration<double> limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  do {
    const auto before = detail::core_time_now();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    const auto after = detail::core_time_now();
    if (after.idle - before.idle >= 0.9 * (after.all - before.all)) return true;
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

/// Writes what is dirty, waits for idle cores, then takes `bytes` of memory and gives them back, so that the kernel
/// hands out the same pages next. A virtual machine returns free pages to its host after about two seconds (free page
/// reporting); to get one back costs as much as to copy several. Without this, whoever runs after a pause pays for
/// that: writes of 1 GiB measured 0.2 to 5 s.
inline void settle(std::size_t bytes, std::chrono::duration<double> limit) {
  ::sync();
  if (limit.count() > 0) wait_until_idle(limit);
  if (bytes == 0) return;
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  ::madvise(memory, bytes, MADV_HUGEPAGE);
  for (std::size_t at = 0; at < bytes; at += 4096) static_cast<volatile char*>(memory)[at] = 1;
  ::munmap(memory, bytes);
}

}  // namespace bench
