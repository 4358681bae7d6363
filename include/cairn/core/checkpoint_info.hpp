// SPDX-License-Identifier: MIT
// What a checkpoint records besides arrays and structure: step, metrics, the user's text, and the policy's memory.
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

}  // namespace cairn::inline v0_1::detail
