// SPDX-License-Identifier: MIT
// Definitions of lc_kernels.hpp.
#pragma once

#include "cairn/encode/simd/lc_kernels.hpp"

#define CAIRN_SIMD_KERNELS "cairn/encode/simd/lc_kernels-inl.hpp"
#include "cairn/encode/simd/each_target.hpp"

namespace cairn::inline v0_1::detail::simd {

CAIRN_SIMD_FAMILY(buckets)
CAIRN_SIMD_FAMILY(half_floats)
CAIRN_SIMD_FAMILY(ratios)
CAIRN_SIMD_FAMILY(symbols)

}  // namespace cairn::inline v0_1::detail::simd
