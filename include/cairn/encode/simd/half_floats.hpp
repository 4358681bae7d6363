// Kernels that make floats of 16-bit floating-point elements, and these of floats, with the same bits on every target.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cairn::simd {

/// `in` and `out` have `n` elements, at multiples of their size. All need the default floating-point environment.
struct half_floats_kernels {
  /// Exact.
  void (*widen_bf16)(const std::uint16_t* in, std::size_t n, float* out) noexcept;
  void (*widen_f16)(const std::uint16_t* in, std::size_t n, float* out) noexcept;

  /// To the nearest element, ties to even; too large: infinity. NaN becomes anything.
  void (*narrow_bf16)(const float* in, std::size_t n, std::uint16_t* out) noexcept;
  void (*narrow_f16)(const float* in, std::size_t n, std::uint16_t* out) noexcept;
};

}  // namespace cairn::simd

#define CAIRN_SIMD_KERNELS "cairn/encode/simd/half_floats-inl.hpp"
#include "cairn/encode/simd/each_target.hpp"

namespace cairn::simd {
inline namespace CAIRN_SIMD_BASE {

inline constexpr choice<half_floats_kernels> half_floats_choices[] = CAIRN_SIMD_CHOICES(half_floats_table);

/// Those for this machine.
inline const half_floats_kernels& half_floats() noexcept {
  static const half_floats_kernels& chosen = best(half_floats_choices);
  return chosen;
}

}  // namespace CAIRN_SIMD_BASE
}  // namespace cairn::simd
