// SPDX-License-Identifier: MIT
// What a policy has learned.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "cairn/core/config.hpp"
#include "cairn/core/float_bits.hpp"

namespace cairn::inline v0_1 {

/// What a policy has learned, as named lists of numbers. Every checkpoint keeps it; it is not part of the state.
using policy_memory = std::map<std::string, std::vector<double>>;

namespace detail {

/// The `count` numbers of that name; none where there are more or fewer, or one is not finite.
[[nodiscard]] inline std::span<const double> recalled(const policy_memory& memory, const std::string& name,
                                                      std::size_t count) {
  const auto at = memory.find(name);
  if (at == memory.end() || at->second.size() != count) return {};
  const auto& kept = at->second;
  return std::all_of(kept.begin(), kept.end(), [](const double& each) { return is_finite(each); })
             ? std::span(kept)
             : std::span<const double>();
}

}  // namespace detail

}  // namespace cairn::inline v0_1
