// SPDX-License-Identifier: MIT
// Definitions of default_policy.hpp.
#pragma once

#include "cairn/schedule/adaptive.hpp"
#include "cairn/schedule/default_policy.hpp"

namespace cairn::inline v0_1 {

any_policy default_policy() { return policies::adaptive(); }

}  // namespace cairn::inline v0_1
