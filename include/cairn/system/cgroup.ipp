// SPDX-License-Identifier: MIT
// Definitions of cgroup.hpp.
#pragma once

#include <algorithm>
#include <charconv>
#include <limits>

#include "cairn/system/cgroup.hpp"
#include "cairn/system/posix.hpp"

namespace cairn::inline v0_1::detail {

inline constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

/// The number that a file holds; `no_limit` for "max", and if it cannot be read.
[[nodiscard]] inline std::uint64_t limit_of_file(const std::string& path) {
  const auto text = posix::text_of(path);
  std::uint64_t limit = no_limit;
  std::from_chars(text.data(), text.data() + text.size(), limit);
  return limit;
}

/// The least limit of the group at `path` and of those around it. The part of the path that a container does not see has no files.
[[nodiscard]] inline std::uint64_t least_limit(const std::string& mount, std::string_view path,
                                               const std::string& memory_file, const std::string& swap_file,
                                               std::uint64_t swap) {
  std::uint64_t least = no_limit;
  while (true) {
    const auto group = mount + std::string(path) + "/";
    const auto memory = limit_of_file(group + memory_file);
    if (memory < no_limit - swap)
      least = std::min(least, memory + std::min(swap, swap_file.empty() ? swap : limit_of_file(group + swap_file)));
    const auto parent = path.rfind('/');
    if (path == "/" || parent == path.npos) return least;
    path = path.substr(0, parent);
  }
}

CAIRN_INLINE std::uint64_t cgroup_memory(std::string_view membership, const std::string& mount, std::uint64_t swap) {
  std::uint64_t least = no_limit;
  while (!membership.empty()) {  // lines of number:controllers:path
    const auto line = membership.substr(0, membership.find('\n'));
    membership.remove_prefix(std::min(membership.size(), line.size() + 1));
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const auto controllers = "," + std::string(line.substr(first + 1, second - first - 1)) + ",";
    auto path = line.substr(second + 1);
    if (path.find("/..") != path.npos) path = {};  // outside of what a container sees
    if (controllers == ",,")
      least = std::min(least, least_limit(mount, path, "memory.max", "memory.swap.max", swap));
    else if (controllers.find(",memory,") != controllers.npos)
      least = std::min(least, least_limit(mount + "/memory", path, "memory.limit_in_bytes", "", swap));
  }
  return least;
}

CAIRN_INLINE std::uint64_t cgroup_memory(std::uint64_t swap) {
  return cgroup_memory(posix::text_of("/proc/self/cgroup"), "/sys/fs/cgroup", swap);
}

}  // namespace cairn::inline v0_1::detail
