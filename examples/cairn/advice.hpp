// SPDX-License-Identifier: MIT
// What to do about an error: the end of its line.
#pragma once

#include <string>

#include "cairn/core/error.hpp"

namespace program {

/// Begins with "; "; empty where the message itself says it.
[[nodiscard]] std::string advice_for(const cairn::error& cause);

}  // namespace program
