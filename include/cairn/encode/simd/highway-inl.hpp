// SPDX-License-Identifier: MIT
// Highway, and what Cairn's kernels need of it; for the files that compile kernels only.
#pragma once

#include <cmath>

// Kernels are compiled for AVX-512, AVX2 and the target of the unit. All other targets are disabled, so that Highway
// does not parse them.
#if !defined(HWY_DISABLED_TARGETS) && !defined(HIGHWAY_HWY_DETECT_TARGETS_H_)
#if defined(__AVX512F__)
#define HWY_DISABLED_TARGETS 0
#elif defined(__SSSE3__)
#define HWY_DISABLED_TARGETS HWY_AVX3_DL
#else
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#endif
#endif
#ifndef HWY_WANT_AVX3_DL
#define HWY_WANT_AVX3_DL 1  // also keeps Highway 1.0.3 from an #error under -march=native on some machines
#endif
#if defined(HWY_ONCE)
#if !HWY_ONCE
#error "cairn cannot be included from a file that Highway compiles once per target"
#endif
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hwy/highway.h"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>
#undef HWY_TARGET_INCLUDE

// The targets that kernels are compiled for beside the static one.
#if (HWY_TARGETS & HWY_AVX3) && HWY_STATIC_TARGET != HWY_AVX3 && HWY_STATIC_TARGET != HWY_AVX3_DL
#define CAIRN_SIMD_AVX3
#define CAIRN_SIMD_TABLE_AVX3(table) &N_AVX3::table,
#else
#define CAIRN_SIMD_TABLE_AVX3(table)
#endif
#if (HWY_TARGETS & HWY_AVX2) && HWY_STATIC_TARGET > HWY_AVX2
#define CAIRN_SIMD_AVX2
#define CAIRN_SIMD_TABLE_AVX2(table) &N_AVX2::table,
#else
#define CAIRN_SIMD_TABLE_AVX2(table)
#endif

/// In the namespace of the kernels: initialises an array of pointers to every target's table `table`, the best first.
#define CAIRN_SIMD_TABLES(table) \
  {CAIRN_SIMD_TABLE_AVX3(table) CAIRN_SIMD_TABLE_AVX2(table) & HWY_STATIC_DISPATCH(table)}

/// Defines all_FAMILY() and FAMILY(), which targets.hpp describes, from the tables FAMILY_table.
#define CAIRN_SIMD_FAMILY(family)                                                                 \
  inline constexpr const family##_kernels* family##_tables[] = CAIRN_SIMD_TABLES(family##_table); \
  kernel_tables<family##_kernels> all_##family() noexcept {                                       \
    return runnable<family##_kernels>(family##_tables, hwy::SupportedTargets());                  \
  }                                                                                               \
  const family##_kernels& family() noexcept {                                                     \
    static const auto& best = *all_##family().front();                                            \
    return best;                                                                                  \
  }
