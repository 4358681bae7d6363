// SPDX-License-Identifier: MIT
// The default policy of a checkpointer, declared without its definition to keep units light.
#pragma once

#include "cairn/schedule/base.hpp"

namespace cairn::inline v0_1 {

/// policies::adaptive, with its default options.
[[nodiscard]] any_policy default_policy();

}  // namespace cairn::inline v0_1
