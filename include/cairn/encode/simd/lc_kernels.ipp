// SPDX-License-Identifier: MIT
// Definitions of lc_kernels.hpp.
#pragma once

#include "cairn/encode/simd/lc_kernels.hpp"

#define CAIRN_SIMD_KERNELS "cairn/encode/simd/lc_kernels-inl.hpp"
#include "cairn/encode/simd/each_target.hpp"

namespace cairn::inline v0_1::detail::simd {

inline constexpr const buckets_kernels* buckets_tables[] = CAIRN_SIMD_TABLES(buckets_table);
inline constexpr const half_floats_kernels* half_floats_tables[] = CAIRN_SIMD_TABLES(half_floats_table);
inline constexpr const ratios_kernels* ratios_tables[] = CAIRN_SIMD_TABLES(ratios_table);
inline constexpr const symbols_kernels* symbols_tables[] = CAIRN_SIMD_TABLES(symbols_table);

kernel_tables<buckets_kernels> all_buckets() noexcept {
  return runnable<buckets_kernels>(buckets_tables, hwy::SupportedTargets());
}
const buckets_kernels& buckets() noexcept {
  static const auto& best = *all_buckets().front();
  return best;
}

kernel_tables<half_floats_kernels> all_half_floats() noexcept {
  return runnable<half_floats_kernels>(half_floats_tables, hwy::SupportedTargets());
}
const half_floats_kernels& half_floats() noexcept {
  static const auto& best = *all_half_floats().front();
  return best;
}

kernel_tables<ratios_kernels> all_ratios() noexcept {
  return runnable<ratios_kernels>(ratios_tables, hwy::SupportedTargets());
}
const ratios_kernels& ratios() noexcept {
  static const auto& best = *all_ratios().front();
  return best;
}

kernel_tables<symbols_kernels> all_symbols() noexcept {
  return runnable<symbols_kernels>(symbols_tables, hwy::SupportedTargets());
}
const symbols_kernels& symbols() noexcept {
  static const auto& best = *all_symbols().front();
  return best;
}

}  // namespace cairn::inline v0_1::detail::simd
