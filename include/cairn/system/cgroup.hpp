// SPDX-License-Identifier: MIT
// The memory that the control groups of a process let it have.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cairn/core/config.hpp"

namespace cairn::inline v0_1::detail {

/// Bytes of memory and swap that a process may have by its cgroup and those around it; 2^64 - 1 if they set no limit. Of version 1 the limit
/// on swap is not read.
/// `membership`: what /proc/self/cgroup says. `mount`: where the cgroups are, /sys/fs/cgroup. `swap`: what the machine has.
[[nodiscard]] CAIRN_INLINE std::uint64_t cgroup_memory(std::string_view membership, const std::string& mount,
                                                       std::uint64_t swap);

/// That of this process.
[[nodiscard]] CAIRN_INLINE std::uint64_t cgroup_memory(std::uint64_t swap);

}  // namespace cairn::inline v0_1::detail

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/system/cgroup.ipp"  // IWYU pragma: keep
#endif
