// SPDX-License-Identifier: MIT
// The peak of resident memory during a piece of work, from the kernel's own high-water mark.
#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace bench {

/// The bytes of one line of /proc/self/status, "VmRSS" or "VmHWM".
[[nodiscard]] inline std::uint64_t status_bytes(std::string_view name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name) && line[name.size()] == ':') return std::stoull(line.substr(name.size() + 1)) * 1024;
  throw std::runtime_error("no " + std::string(name) + " in /proc/self/status");
}

/// Peak resident bytes during `work()` beyond those resident before it.
///
/// Writing 5 to /proc/self/clear_refs sets the kernel's high-water mark VmHWM back to the present VmRSS; the
/// kernel raises it at every fault and unmap, so that no thread has to sample and no short peak is missed.
/// Pages of mapped files count too. Start a new process for every measurement: memory that malloc has kept
/// from earlier work would hide a peak.
template <class Work>
[[nodiscard]] std::uint64_t extra_memory_of(Work&& work) {
  if (!(std::ofstream("/proc/self/clear_refs") << 5 << std::flush))
    throw std::runtime_error("cannot write /proc/self/clear_refs");
  const auto before = status_bytes("VmRSS");
  work();
  return std::max(status_bytes("VmHWM"), before) - before;
}

}  // namespace bench
