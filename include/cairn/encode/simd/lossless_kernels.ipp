// SPDX-License-Identifier: MIT
// Definitions of lossless_kernels.hpp.
#pragma once

#include <cstring>
#include <type_traits>

#include "cairn/encode/simd/lossless_kernels.hpp"

#define CAIRN_SIMD_KERNELS "cairn/encode/simd/planes-inl.hpp"
#include "cairn/encode/simd/each_target.hpp"
#define CAIRN_SIMD_KERNELS "cairn/encode/simd/zeros-inl.hpp"
#include "cairn/encode/simd/each_target.hpp"

namespace cairn::inline v0_1::detail::simd {

inline constexpr const planes_kernels* planes_tables[] = CAIRN_SIMD_TABLES(planes_table);
inline constexpr const zeros_kernels* zeros_tables[] = CAIRN_SIMD_TABLES(zeros_table);

kernel_tables<planes_kernels> all_planes() noexcept {
  return runnable<planes_kernels>(planes_tables, hwy::SupportedTargets());
}
const planes_kernels& planes() noexcept {
  static const auto& best = *all_planes().front();
  return best;
}

kernel_tables<zeros_kernels> all_zeros() noexcept {
  return runnable<zeros_kernels>(zeros_tables, hwy::SupportedTargets());
}
const zeros_kernels& zeros() noexcept {
  static const auto& best = *all_zeros().front();
  return best;
}

}  // namespace cairn::inline v0_1::detail::simd
