// SPDX-License-Identifier: MIT
// Memory: what the machine has, pages prepared before they are filled, and uninitialised page-aligned buffers.
#pragma once

#include <algorithm>
#include <charconv>
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
#include <sys/sysinfo.h>

#include "cairn/core/error.hpp"
#include "cairn/system/parallel.hpp"
#include "cairn/system/posix.hpp"

namespace cairn::inline v0_1::detail {

/// Bytes of a page of memory, and what direct I/O aligns to.
inline constexpr std::size_t page_bytes = 4096;

/// Bytes of a large page.
inline constexpr std::size_t huge_page_bytes = std::size_t{2} << 20U;

inline constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

/// The number that a file holds; `no_limit` for "max", and if it cannot be read.
[[nodiscard]] inline std::uint64_t limit_of_file(const std::string& path) {
  const auto text = posix::text_of(path);
  std::uint64_t limit = no_limit;
  std::from_chars(text.data(), text.data() + text.size(), limit);
  return limit;
}

/// The number after `key` at the beginning of a line; 0 if there is none.
[[nodiscard]] inline std::uint64_t number_after(const std::string& text, const std::string& key) {
  const auto at = ('\n' + text).find('\n' + key);
  std::uint64_t number = 0;
  if (at == text.npos) return number;
  const auto digits = text.find_first_not_of(" :\t", at + key.size());
  if (digits != text.npos) std::from_chars(text.data() + digits, text.data() + text.size(), number);
  return number;
}

/// Calls `see(directory, is_version_2)` for the group of a process and those around it. The part of the path that a
/// container does not see has no files.
template <class See>
void for_each_group(std::string_view membership, const std::string& mount, const See& see) {
  while (!membership.empty()) {  // lines of number:controllers:path
    const auto line = membership.substr(0, membership.find('\n'));
    membership.remove_prefix(std::min(membership.size(), line.size() + 1));
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const auto controllers = "," + std::string(line.substr(first + 1, second - first - 1)) + ",";
    const bool is_version_2 = controllers == ",,";
    if (!is_version_2 && controllers.find(",memory,") == controllers.npos) continue;
    auto path = line.substr(second + 1);
    if (path.find("/..") != path.npos) path = {};  // outside of what a container sees
    while (true) {
      see(mount + (is_version_2 ? "" : "/memory") + std::string(path) + "/", is_version_2);
      const auto parent = path.rfind('/');
      if (path == "/" || parent == path.npos) break;
      path = path.substr(0, parent);
    }
  }
}

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
[[nodiscard]] inline cgroup_memory memory_of_cgroups(std::string_view membership, const std::string& mount,
                                                     std::uint64_t swap) {
  cgroup_memory least;
  for_each_group(membership, mount, [&](const std::string& group, bool is_version_2) {
    const auto limit_file = group + (is_version_2 ? "memory.max" : "memory.limit_in_bytes");
    const auto limit = limit_of_file(limit_file);
    const auto used = limit_of_file(group + (is_version_2 ? "memory.current" : "memory.usage_in_bytes"));
    const auto own_swap = is_version_2 ? std::min(swap, limit_of_file(group + "memory.swap.max")) : swap;
    if (limit < no_limit - swap) least.most = std::min(least.most, limit + own_swap);
    if (limit == no_limit || used == no_limit) return;
    const auto files =
        number_after(posix::text_of(group + "memory.stat"), is_version_2 ? "inactive_file " : "total_inactive_file ");
    const auto in_use = used - std::min(used, files);
    if (const auto left = limit - std::min(limit, in_use); left < least.left.bytes) least.left = {left, limit_file};
  });
  return least;
}

/// Bytes of memory that this process can have at most: all of the machine, swap included, or what its cgroups allowed
/// when it was first asked.
[[nodiscard]] inline std::uint64_t machine_memory() {
  static const std::uint64_t most = [] {
    struct sysinfo about{};
    const bool is_known = ::sysinfo(&about) == 0;
    const std::uint64_t swap = std::uint64_t{about.totalswap} * about.mem_unit;
    const auto allowed = memory_of_cgroups(posix::text_of("/proc/self/cgroup"), "/sys/fs/cgroup", swap).most;
    return is_known ? std::min(std::uint64_t{about.totalram} * about.mem_unit + swap, allowed) : allowed;
  }();
  return most;
}

/// errc::no_memory if `bytes` are more than that. The message begins with `what` needs them, and ends with what helps.
inline void require_memory(std::uint64_t bytes, std::string_view what,
                           std::string_view advice = "give the process more memory") {
  if (bytes > machine_memory())
    fail(errc::no_memory,
         {what, " needs ", bytes, " bytes of memory: more than the memory of this machine, or than its cgroup allows, ",
          machine_memory(), " bytes; ", advice});
}

/// Where /proc and /sys are, instead of in "/": for tests.
inline std::string system_root;

/// Bytes that this process can allocate just now without swap: what the machine has left, or its cgroups. Other
/// processes may take them, too.
[[nodiscard]] inline memory_left memory_left_now() {
  const auto membership = posix::text_of(system_root + "/proc/self/cgroup");
  auto least = memory_of_cgroups(membership, system_root + "/sys/fs/cgroup", 0).left;
  const auto machine = number_after(posix::text_of(system_root + "/proc/meminfo"), "MemAvailable:") * 1024;
  return machine != 0 && machine < least.bytes ? memory_left{machine, "the machine (MemAvailable)"} : least;
}

/// Which part of a save fits into the memory that is left, and why not all of it.
struct memory_fit {
  double part = 1;
  std::string reason{};
};

inline constexpr std::uint64_t least_measured_bytes = std::uint64_t{1} << 20U;

/// What part of `divisible` bytes fits into the memory that is left beside `fixed` bytes; nothing if all fits. A save
/// may take 7/8 of what is left; a part, half of what `fixed` leaves. `there`: bytes that are allocated already. Less
/// than 1 MiB is not looked at. errc::no_memory if not even a part of 1 MiB fits.
[[nodiscard]] inline std::optional<memory_fit> fit_memory(std::uint64_t divisible, std::uint64_t fixed,
                                                          std::uint64_t there) {
  if (divisible - there + fixed < least_measured_bytes) return std::nullopt;
  auto left = memory_left_now();
  left.bytes += std::min(there, no_limit - left.bytes);
  const auto size = static_cast<double>(divisible), beside = static_cast<double>(fixed);
  const auto have = static_cast<double>(left.bytes);
  if (size + beside <= have / 8 * 7) return std::nullopt;
  const auto why =
      sentence({"the save needs ", divisible + fixed, " bytes of memory, and ", left.of, " leaves ", left.bytes});
  const auto part = (have - beside) / 2;
  if (part < least_measured_bytes) fail(errc::no_memory, {why, "; give the job more memory"});
  return memory_fit{part / size, why};
}

/// Into how many parts a save is cut of which `fit.part` fits at a time.
[[nodiscard]] inline std::size_t number_of_parts(const memory_fit& fit) noexcept {
  return static_cast<std::size_t>(1 / fit.part) + 1;
}

/// errc::no_memory: a copy of that many bytes takes more than 7/8 of what is left. Less than 1 MiB is not looked at.
inline void require_memory_to_copy(std::uint64_t bytes) {
  if (bytes < least_measured_bytes) return;
  if (const auto left = memory_left_now(); bytes > left.bytes / 8 * 7)
    fail(errc::no_memory, {"a copy of its elements needs ", bytes, " bytes of memory, and ", left.of, " leaves ",
                           left.bytes, "; give the job more memory"});
}

/// Bytes that a merge may make at a time: it holds as many that they are made from.
[[nodiscard]] inline std::uint64_t memory_to_merge() { return memory_left_now().bytes / 2; }

/// A range of addresses.
struct memory_range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

/// Joins ranges that overlap or lie at most `gap` bytes apart. The result is sorted.
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

/// Allocates the pages of freshly reserved `ranges` before they are written to, as large pages where the kernel has
/// them, on `threads` threads. Contents are kept; without support it does nothing. One thread that faults the pages in
/// one by one takes longer than the write itself.
inline void populate_pages(std::vector<memory_range> ranges, unsigned threads) {
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
