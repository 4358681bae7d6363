// SPDX-License-Identifier: MIT
// What a policy has learned.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cairn/core/config.hpp"

namespace cairn::inline v0_1 {

/// What a policy has learned, as named lists of numbers. Every checkpoint keeps it; it is not part of the state.
using policy_memory = std::map<std::string, std::vector<double>>;

}  // namespace cairn::inline v0_1
