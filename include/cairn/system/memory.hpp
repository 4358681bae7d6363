// Memory: what the machine has, pages prepared before they are filled, and uninitialised page-aligned buffers.
#pragma once

#include <sys/mman.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cairn/core/error.hpp"
#include "cairn/system/parallel.hpp"

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

/// Aligned for any element and for direct I/O. Pages that are never touched are not there.
class page_buffer {
 public:
  page_buffer() = default;
  explicit page_buffer(std::size_t bytes) { static_cast<void>(first(bytes)); }

  /// The first `bytes` bytes, uninitialised where the buffer has to grow.
  [[nodiscard]] std::span<std::byte> first(std::size_t bytes) {
    if (bytes > bytes_) {
      memory_.reset();
      memory_.reset(static_cast<std::byte*>(::operator new(bytes, alignment)));
      bytes_ = bytes;
    }
    return {memory_.get(), bytes};
  }

  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return {memory_.get(), bytes_}; }

 private:
  static constexpr std::align_val_t alignment{4096};
  struct free_aligned {
    void operator()(std::byte* memory) const noexcept { ::operator delete(memory, alignment); }
  };
  std::unique_ptr<std::byte, free_aligned> memory_;
  std::size_t bytes_ = 0;
};

/// Not initialized; pages that are never touched are not there. errc::io when the system has no memory to give.
class huge_buffer {
 public:
  static constexpr std::size_t page = 4096, huge_page = std::size_t{2} << 20U;

  huge_buffer() = default;
  explicit huge_buffer(std::size_t bytes) {
    const std::size_t unit = bytes < huge_page ? page : huge_page;
    bytes_ = (bytes + unit - 1) / unit * unit;
    if (bytes_ == 0) return;
    void* start = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) fail_io("allocate " + std::to_string(bytes_) + " bytes for", "a copy in memory");
    if (unit == huge_page) ::madvise(start, bytes_, MADV_HUGEPAGE);
    start_ = static_cast<std::byte*>(start);
  }
  huge_buffer(huge_buffer&& other) noexcept
      : start_(std::exchange(other.start_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  huge_buffer& operator=(huge_buffer other) noexcept {
    std::swap(start_, other.start_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~huge_buffer() {
    if (start_ != nullptr) ::munmap(start_, bytes_);
  }

  /// All of it: what was asked for, rounded up to whole pages.
  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return {start_, bytes_}; }

 private:
  std::byte* start_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace cairn
