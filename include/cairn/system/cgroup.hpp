// SPDX-License-Identifier: MIT
// The memory that the control groups of a process let it have.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace cairn::inline v0_1::detail {

/// Bytes of memory and swap that a process may have by its cgroup and those around it; 2^64 - 1 if they set no limit. Of version 1 the limit
/// on swap is not read.
/// `membership`: what /proc/self/cgroup says. `mount`: where the cgroups are, /sys/fs/cgroup. `swap`: what the machine has.
[[nodiscard]] std::uint64_t cgroup_memory(std::string_view membership, const std::string& mount, std::uint64_t swap);

/// What a limit on memory leaves.
struct memory_left {
  std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max();
  std::string of{};  ///< whose limit it is
};

/// The least that the cgroup of a process and those around it leave, without swap. File pages that the kernel can reclaim are not in use.
[[nodiscard]] memory_left cgroup_memory_left(std::string_view membership, const std::string& mount);

/// That of this process.
[[nodiscard]] std::uint64_t cgroup_memory(std::uint64_t swap);

}  // namespace cairn::inline v0_1::detail
