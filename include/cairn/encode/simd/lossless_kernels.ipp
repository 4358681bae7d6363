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

CAIRN_SIMD_FAMILY(planes)
CAIRN_SIMD_FAMILY(zeros)

}  // namespace cairn::inline v0_1::detail::simd
