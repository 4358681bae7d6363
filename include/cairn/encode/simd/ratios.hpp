// SPDX-License-Identifier: MIT
// Kernels of lc for deltas that are ratios: differences of the bits of floats, as integers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cairn/encode/simd/targets.hpp"

namespace cairn::inline v0_1::detail::simd {

/// `u` are the real elements, `a` the same elements as a reader restores them from the parent, and `b` what a reader will restore from this
/// checkpoint. All have `n` elements, aligned to 4 bytes. All functions need the default floating-point environment.
struct ratios_kernels {
  std::int64_t target;
  /// Sets `d` to the bits of u minus those of a, as a number: about 2^23 log2(u / a). 0 where that has no meaning: the signs differ, one of
  /// the two is zero, or one is not finite.
  void (*ratios)(const float* u, const float* a, std::size_t n, float* d) noexcept;

  /// Sets `b` (which may be `a` or `d`) to the float whose bits are those of a plus d. `d` are whole numbers below 2^31.
  void (*multiply)(const float* a, const float* d, std::size_t n, float* b) noexcept;

  /// Whether all `b` are near to `u`: equal bits; or both finite, of one sign, and b at least half and at most twice as large.
  bool (*are_near)(const float* u, const float* b, std::size_t n) noexcept;
};

/// Those for this machine.
[[nodiscard]] const ratios_kernels& ratios() noexcept;
/// Those of every target that this machine can run; all give the same bits.
[[nodiscard]] kernel_tables<ratios_kernels> all_ratios() noexcept;

}  // namespace cairn::inline v0_1::detail::simd
