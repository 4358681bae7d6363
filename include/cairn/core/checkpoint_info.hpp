// SPDX-License-Identifier: MIT
// What a checkpoint records besides arrays and structure: step, metrics, text of the user, and the memory of the policy.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "cairn/core/policy_memory.hpp"

namespace cairn::inline v0_1::detail {

struct checkpoint_info {
  std::uint64_t step = 0;
  std::map<std::string, double> metrics{};
  policy_memory notes{};
  std::map<std::string, std::string> metadata{};  ///< of the user
};

/// Whether a published checkpoint says of a state all that a save of it would, but for notes.
[[nodiscard]] inline bool says_all(const checkpoint_info& published, const checkpoint_info& saved) {
  if (published.step != saved.step || published.metadata != saved.metadata) return false;
  for (const auto& [name, value] : saved.metrics) {
    const auto at = published.metrics.find(name);
    if (at == published.metrics.end() || at->second != value) return false;
  }
  return true;
}

}  // namespace cairn::inline v0_1::detail
