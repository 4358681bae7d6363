// SPDX-License-Identifier: MIT
// Catch2 of either generation, spelled as in version 3: tests include this file and work with both.
#pragma once

#include "standard.hpp"

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>

namespace Catch {

using Detail::Approx;

namespace Matchers {

inline auto ContainsSubstring(const std::string& part) { return Contains(part); }

}  // namespace Matchers
}  // namespace Catch

/// Ends a test case that cannot run here, with a message.
#define SKIP(...)                       \
  do {                                  \
    WARN("skipped: " << (__VA_ARGS__)); \
    return;                             \
  } while (false)
#endif

using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
