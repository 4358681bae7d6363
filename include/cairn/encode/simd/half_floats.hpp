// SPDX-License-Identifier: MIT
// Kernels that convert 16-bit floating-point elements to floats and back, with the same bits on every target.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cairn/encode/simd/targets.hpp"

namespace cairn::inline v0_1::detail::simd {

/// `in` and `out` have `n` elements, aligned to their size. All need the default floating-point environment.
struct half_floats_kernels {
  std::int64_t target;
  /// Exact.
  void (*widen_bf16)(const std::uint16_t* in, std::size_t n, float* out) noexcept;
  void (*widen_f16)(const std::uint16_t* in, std::size_t n, float* out) noexcept;

  /// To the nearest element, ties to even; infinity where that overflows. The result for NaN is unspecified.
  void (*narrow_bf16)(const float* in, std::size_t n, std::uint16_t* out) noexcept;
  void (*narrow_f16)(const float* in, std::size_t n, std::uint16_t* out) noexcept;
};

/// Those for this machine.
[[nodiscard]] const half_floats_kernels& half_floats() noexcept;
/// Those of every target that this machine can run; all give the same bits.
[[nodiscard]] kernel_tables<half_floats_kernels> all_half_floats() noexcept;

}  // namespace cairn::inline v0_1::detail::simd
