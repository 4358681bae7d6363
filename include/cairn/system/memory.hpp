// SPDX-License-Identifier: MIT
// Memory: what the machine has, pages prepared before they are filled, and uninitialised page-aligned buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sys/mman.h>

#include "cairn/core/error.hpp"

namespace cairn::inline v0_1::detail {

/// Bytes of a page of memory, and what direct I/O aligns to.
inline constexpr std::size_t page_bytes = 4096;

/// Bytes of a large page.
inline constexpr std::size_t huge_page_bytes = std::size_t{2} << 20U;

inline constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

/// What a limit on memory leaves.
struct memory_left {
  std::uint64_t bytes = no_limit;
  std::string of{};  ///< whose limit it is
};

/// The least that the cgroup of a process and those around it allow and leave.
struct cgroup_memory {
  std::uint64_t most = no_limit;  ///< bytes of memory and swap; of version 1 the limit on swap is not read
  memory_left left{};             ///< without swap; file pages that the kernel can reclaim are not in use
};

/// `membership`: what /proc/self/cgroup says. `mount`: where the cgroups are, /sys/fs/cgroup. `swap`: what the machine
/// has.
[[nodiscard]] cgroup_memory memory_of_cgroups(std::string_view membership, const std::string& mount,
                                              std::uint64_t swap);

/// Bytes of memory that this process can have at most: all of the machine, swap included, or what its cgroups allowed
/// when it was first asked.
[[nodiscard]] std::uint64_t machine_memory();

/// errc::no_memory if `bytes` are more than that. The message begins with `what` needs them, and ends with what helps.
void require_memory(std::uint64_t bytes, std::string_view what,
                    std::string_view advice = "give the process more memory");

/// Where /proc and /sys are, instead of in "/": for tests.
inline std::string system_root;

/// Bytes that this process can allocate just now without swap: what the machine has left, or its cgroups. Other
/// processes may take them, too.
[[nodiscard]] memory_left memory_left_now();

/// Which part of a save fits into the memory that is left, and why not all of it.
struct memory_fit {
  double part = 1;
  std::string reason{};
};

inline constexpr std::uint64_t least_measured_bytes = std::uint64_t{1} << 20U;

/// What part of `divisible` bytes fits into the memory that is left beside `fixed` bytes; nothing if all fits. A save
/// may take 7/8 of what is left; a part, half of what `fixed` leaves. `there`: bytes that are allocated already. Less
/// than 1 MiB is not looked at. errc::no_memory if not even a part of 1 MiB fits.
[[nodiscard]] std::optional<memory_fit> fit_memory(std::uint64_t divisible, std::uint64_t fixed, std::uint64_t there);

/// Into how many parts a save is cut of which `fit.part` fits at a time.
[[nodiscard]] inline std::size_t number_of_parts(const memory_fit& fit) noexcept {
  return static_cast<std::size_t>(1 / fit.part) + 1;
}

/// Whether a copy of that many bytes takes at most 7/8 of what is left. Less than 1 MiB is not looked at.
[[nodiscard]] bool has_memory_to_copy(std::uint64_t bytes);
/// errc::no_memory where it does not.
void require_memory_to_copy(std::uint64_t bytes);

/// Bytes that a merge may make at a time: it holds as many that they are made from.
[[nodiscard]] std::uint64_t memory_to_merge();

/// A range of addresses.
struct memory_range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

/// Joins ranges that overlap or lie at most `gap` bytes apart. The result is sorted.
[[nodiscard]] std::vector<memory_range> join_ranges(std::vector<memory_range> ranges, std::uintptr_t gap);

/// Allocates the pages of freshly reserved `ranges` before they are written to, as large pages where the kernel has
/// them, on `threads` threads. Contents are kept; without support it does nothing. One thread that faults the pages in
/// one by one takes longer than the write itself.
void populate_pages(std::vector<memory_range> ranges, unsigned threads);

/// Scratch memory from the heap, aligned for any element and for direct I/O. Uninitialised.
class page_buffer {
 public:
  page_buffer() = default;
  explicit page_buffer(std::size_t bytes) { static_cast<void>(first(bytes)); }

  /// The first `bytes` bytes. Discards the contents where the buffer has to grow.
  [[nodiscard]] std::span<std::byte> first(std::size_t bytes) {
    if (bytes > bytes_) {
      memory_.reset();
      memory_.reset(static_cast<std::byte*>(::operator new(bytes, std::align_val_t{page_bytes})));
      bytes_ = bytes;
    }
    return {memory_.get(), bytes};
  }

  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return {memory_.get(), bytes_}; }

 private:
  struct free_aligned {
    void operator()(std::byte* memory) const noexcept { ::operator delete(memory, std::align_val_t{page_bytes}); }
  };
  std::unique_ptr<std::byte, free_aligned> memory_;
  std::size_t bytes_ = 0;
};

/// Memory for a copy of a state, from the system and given back to it at once; large pages where it is large.
/// Uninitialised; pages that are never touched take no memory. errc::no_memory when the system has none to give.
class huge_buffer {
 public:
  huge_buffer() = default;
  explicit huge_buffer(std::size_t bytes) {
    const std::size_t unit = bytes < huge_page_bytes ? page_bytes : huge_page_bytes;
    const std::size_t whole = (bytes + unit - 1) / unit * unit;
    if (whole == 0) return;
    void* start = ::mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) fail(errc::no_memory, {"cannot allocate ", whole, " bytes for a copy in memory"});
    if (unit == huge_page_bytes) ::madvise(start, whole, MADV_HUGEPAGE);
    start_ = {static_cast<std::byte*>(start), unmap{whole}};
  }
  /// All of it: what was asked for, rounded up to whole pages.
  [[nodiscard]] std::span<std::byte> bytes() const noexcept {
    return {start_.get(), start_ ? start_.get_deleter().bytes : 0};
  }

 private:
  struct unmap {
    std::size_t bytes;
    void operator()(std::byte* start) const noexcept { ::munmap(start, bytes); }
  };
  std::unique_ptr<std::byte, unmap> start_;
};

}  // namespace cairn::inline v0_1::detail
