// SPDX-License-Identifier: MIT
// Finds what writing a share costs, from measured writes.
#pragma once

#include <cstdint>
#include <span>

#include "cairn/core/config.hpp"
#include "cairn/plan/cost.hpp"

namespace cairn::inline v0_1::plan {

/// What one rank has written, and how long it took.
struct measured_write {
  std::uint64_t bytes = 0;    ///< written
  std::uint64_t tensors = 0;  ///< written, each as one piece
  double seconds = 0;         ///< that it took
};

/// The cost with the least squares of relative errors, of those with no negative part. A part that the samples cannot tell from the others is 0: give
/// samples of different sizes, and of different numbers of tensors for one size. O(samples). errc::invalid: no samples, or one whose time is not positive and
/// finite.
[[nodiscard]] CAIRN_INLINE write_cost calibrate(std::span<const measured_write> samples);

}  // namespace cairn::inline v0_1::plan

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/plan/calibrate.ipp"  // IWYU pragma: keep
#endif
