// Prepares memory that is about to be filled: large pages where the system has them, touched by several
// threads.
#pragma once

#include <sys/mman.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "cairn/core/parallel.hpp"

namespace cairn {

/// Bytes of memory that the machine has, swap included: nothing larger can be allocated.
[[nodiscard]] inline std::uint64_t machine_memory() noexcept {
  struct sysinfo about{};
  if (::sysinfo(&about) != 0) return std::numeric_limits<std::uint64_t>::max();
  return (std::uint64_t{about.totalram} + about.totalswap) * about.mem_unit;
}

/// A range of addresses.
struct memory_range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

/// Joins ranges that overlap or lie at most `gap` bytes apart; the result is sorted.
[[nodiscard]] inline std::vector<memory_range> join_ranges(std::vector<memory_range> ranges, std::uintptr_t gap) {
  std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  std::vector<memory_range> joined;
  for (const auto& each : ranges) {
    if (!joined.empty() && each.begin <= joined.back().end + gap)
      joined.back().end = std::max(joined.back().end, each.end);
    else
      joined.push_back(each);
  }
  return joined;
}

/// Makes pages present for freshly allocated `ranges` before they are written to: the kernel then hands out 2
/// MiB pages (madvise) and zeroes them on `threads` threads. Contents are kept; without support it does
/// nothing. Page by page and on one thread, the faults of a first write cost more than the write.
inline void populate_pages(std::vector<memory_range> ranges, unsigned threads) {
#if defined(MADV_HUGEPAGE) && defined(MADV_POPULATE_WRITE)
  constexpr std::uintptr_t small_page = 4096;
  constexpr std::uintptr_t large_page = std::uintptr_t{2} << 20;
  constexpr std::uintptr_t step = std::uintptr_t{16} << 20;
  std::vector<memory_range> steps;
  for (auto [begin, end] : join_ranges(std::move(ranges), 16 * small_page)) {
    begin = begin / small_page * small_page;
    end = (end + small_page - 1) / small_page * small_page;
    if (end - begin >= large_page) (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
    while (begin < end) {
      const auto next = std::min(end, (begin / step + 1) * step);
      steps.push_back({begin, next});
      begin = next;
    }
  }
  parallel_for(steps.size(), threads, [&](std::size_t i, unsigned) {
    (void)::madvise(reinterpret_cast<void*>(steps[i].begin), steps[i].end - steps[i].begin, MADV_POPULATE_WRITE);
  });
#else
  (void)ranges;
  (void)threads;
#endif
}

}  // namespace cairn
