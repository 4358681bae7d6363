// What writing its share costs a rank, as a function of bytes and pieces, and how that function is fitted to measured saves.
#pragma once

#include <cstdint>
#include <span>

#include "cairn/core/config.hpp"

namespace cairn::plan {

/// Seconds that one rank takes to write: base + per_byte * bytes + per_tensor * tensors.
struct write_cost {
  double base = 0, per_byte = 0, per_tensor = 0;

  [[nodiscard]] double seconds(std::uint64_t bytes, std::uint64_t tensors) const noexcept {
    return base + per_byte * static_cast<double>(bytes) + per_tensor * static_cast<double>(tensors);
  }
};

/// What one rank has written, and how long it took.
struct measured_write {
  std::uint64_t bytes = 0, tensors = 0;
  double seconds = 0;
};

/// The cost with the least squares of relative errors, of those with no negative part. A part that the samples cannot tell from the others is 0: give
/// samples of different sizes, and of different numbers of tensors for one size. O(samples). errc::invalid: no samples, or one whose time is not positive and
/// finite.
[[nodiscard]] CAIRN_INLINE write_cost calibrate(std::span<const measured_write> samples);

}  // namespace cairn::plan

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/plan/cost.ipp"  // IWYU pragma: keep
#endif
