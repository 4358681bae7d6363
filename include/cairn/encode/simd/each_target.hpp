// SPDX-License-Identifier: MIT
// Compiles the file that CAIRN_SIMD_KERNELS names once per target. No include guard: it is included once per such file.
// Highway's own foreach_target.h serves only one file of a unit.
#include "cairn/encode/simd/highway-inl.hpp"
#if !defined(CAIRN_SIMD_KERNELS)
#error "CAIRN_SIMD_KERNELS must name the file of the kernels"
#endif

#if defined(CAIRN_SIMD_AVX2)
#undef HWY_TARGET
#define HWY_TARGET HWY_AVX2
#include <hwy/ops/set_macros-inl.h>
#include CAIRN_SIMD_KERNELS
#endif
#if defined(CAIRN_SIMD_AVX3)
#undef HWY_TARGET
#define HWY_TARGET HWY_AVX3
#include <hwy/ops/set_macros-inl.h>
#include CAIRN_SIMD_KERNELS
#endif
#undef HWY_TARGET
#define HWY_TARGET HWY_STATIC_TARGET
#include <hwy/ops/set_macros-inl.h>
#include CAIRN_SIMD_KERNELS
#undef CAIRN_SIMD_KERNELS
