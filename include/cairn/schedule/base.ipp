// SPDX-License-Identifier: MIT
// Definitions of schedule/base.hpp and every.hpp.
#pragma once

#include "cairn/schedule/adaptive.hpp"
#include "cairn/schedule/base.hpp"
#include "cairn/schedule/every.hpp"

namespace cairn::inline v0_1 {

std::span<const double> detail::recalled(const policy_memory& memory, const std::string& name, std::size_t count) {
  const auto at = memory.find(name);
  if (at == memory.end() || at->second.size() != count) return {};
  for (const double& each : at->second)
    if (!is_finite(each)) return {};
  return at->second;
}

any_policy default_policy() { return policies::adaptive(); }

}  // namespace cairn::inline v0_1
