// SPDX-License-Identifier: MIT
// Definitions of memory.hpp: what the machine and its cgroups have and leave, and pages that are prepared.
#pragma once

#include <algorithm>
#include <charconv>
#include <utility>

#include <sys/sysinfo.h>

#include "cairn/system/memory.hpp"
#include "cairn/system/parallel.hpp"
#include "cairn/system/posix.hpp"

namespace cairn::inline v0_1::detail {

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

cgroup_memory memory_of_cgroups(std::string_view membership, const std::string& mount, std::uint64_t swap) {
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

std::uint64_t machine_memory() {
  static const std::uint64_t most = [] {
    struct sysinfo about{};
    const bool is_known = ::sysinfo(&about) == 0;
    const std::uint64_t swap = std::uint64_t{about.totalswap} * about.mem_unit;
    const auto allowed = memory_of_cgroups(posix::text_of("/proc/self/cgroup"), "/sys/fs/cgroup", swap).most;
    return is_known ? std::min(std::uint64_t{about.totalram} * about.mem_unit + swap, allowed) : allowed;
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
  const auto membership = posix::text_of(system_root + "/proc/self/cgroup");
  auto least = memory_of_cgroups(membership, system_root + "/sys/fs/cgroup", 0).left;
  const auto machine = number_after(posix::text_of(system_root + "/proc/meminfo"), "MemAvailable:") * 1024;
  return machine != 0 && machine < least.bytes ? memory_left{machine, "the machine (MemAvailable)"} : least;
}

std::optional<memory_fit> fit_memory(std::uint64_t divisible, std::uint64_t fixed, std::uint64_t there) {
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

bool has_memory_to_copy(std::uint64_t bytes) {
  return bytes < least_measured_bytes || bytes <= memory_left_now().bytes / 8 * 7;
}

void require_memory_to_copy(std::uint64_t bytes) {
  if (has_memory_to_copy(bytes)) return;
  const auto left = memory_left_now();
  fail(errc::no_memory, {"a copy of its elements needs ", bytes, " bytes of memory, and ", left.of, " leaves ",
                         left.bytes, "; give the job more memory"});
}

std::uint64_t memory_to_merge() { return memory_left_now().bytes / 2; }

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

}  // namespace cairn::inline v0_1::detail
