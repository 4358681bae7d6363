// SPDX-License-Identifier: MIT
// Catch2 of either generation, spelled as in version 3, and what tests use of the standard library: all that is
// precompiled. Tests include this file.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

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
