// SPDX-License-Identifier: MIT
// Definitions of system/memory.hpp.
#pragma once

#include <sys/mman.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <string>

#include "cairn/core/error.hpp"
#include "cairn/system/cgroup.hpp"
#include "cairn/system/memory.hpp"
#include "cairn/system/parallel.hpp"
#include "cairn/system/posix.hpp"

namespace cairn::inline v0_1::detail {

std::uint64_t machine_memory() {
  static const std::uint64_t most = [] {
    struct sysinfo about{};
    if (::sysinfo(&about) != 0) return cgroup_memory(0);
    const std::uint64_t swap = std::uint64_t{about.totalswap} * about.mem_unit;
    return std::min(std::uint64_t{about.totalram} * about.mem_unit + swap, cgroup_memory(swap));
  }();
  return most;
}

void require_memory(std::uint64_t bytes, std::string_view what, std::string_view advice) {
  if (bytes > machine_memory())
    fail(errc::no_memory,
         {what, " needs ", bytes, " bytes of memory: more than the memory of this machine, or than its cgroup allows, ",
          machine_memory(), " bytes; ", advice});
}

memory_left memory_left_now() {
  auto least = cgroup_memory_left(posix::text_of(system_root + "/proc/self/cgroup"), system_root + "/sys/fs/cgroup");
  const auto machine = number_after(posix::text_of(system_root + "/proc/meminfo"), "MemAvailable:") * 1024;
  return machine != 0 && machine < least.bytes ? memory_left{machine, "the machine (MemAvailable)"} : least;
}

std::vector<memory_range> join_ranges(std::vector<memory_range> ranges, std::uintptr_t gap) {
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

void populate_pages(std::vector<memory_range> ranges, unsigned threads) {
#if defined(MADV_HUGEPAGE) && defined(MADV_POPULATE_WRITE)
  constexpr std::uintptr_t step = std::uintptr_t{16} << 20;
  std::vector<memory_range> steps;
  for (auto [begin, end] : join_ranges(std::move(ranges), 16 * page_bytes)) {
    begin = begin / page_bytes * page_bytes;
    end = (end + page_bytes - 1) / page_bytes * page_bytes;
    if (end - begin >= huge_page_bytes) (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
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

huge_buffer::huge_buffer(std::size_t bytes) {
  const std::size_t unit = bytes < huge_page_bytes ? page_bytes : huge_page_bytes;
  bytes_ = (bytes + unit - 1) / unit * unit;
  if (bytes_ == 0) return;
  void* start = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) fail(errc::no_memory, {"cannot allocate ", bytes_, " bytes for a copy in memory"});
  if (unit == huge_page_bytes) ::madvise(start, bytes_, MADV_HUGEPAGE);
  start_ = static_cast<std::byte*>(start);
}

huge_buffer::~huge_buffer() {
  if (start_ != nullptr) ::munmap(start_, bytes_);
}

}  // namespace cairn::inline v0_1::detail
