// What Highway needs once per unit, before any kernel: the operations of every target, and how a table of kernels is
// chosen at run time.
#pragma once

#include <cstdint>

// The kernels of x are in x-inl.hpp, which has no include guard: `#define CAIRN_SIMD_KERNELS "cairn/.../x-inl.hpp"` and
// `#include "cairn/encode/simd/each_target.hpp"` compile them once per target. Highway's own foreach_target.h does that for one
// file of a unit only, and its table of functions is `static`; Cairn is header-only and has several.
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

// Units compiled with different -m flags have different static targets, and so must not share the kernels that are compiled for
// the static target: everything in x-inl.hpp and the tables of it live in an inline namespace of that name.
#if HWY_STATIC_TARGET == HWY_AVX3_DL
#define CAIRN_SIMD_BASE base_avx3_dl
#elif HWY_STATIC_TARGET == HWY_AVX3
#define CAIRN_SIMD_BASE base_avx3
#elif HWY_STATIC_TARGET == HWY_AVX2
#define CAIRN_SIMD_BASE base_avx2
#elif HWY_STATIC_TARGET == HWY_SSE4
#define CAIRN_SIMD_BASE base_sse4
#elif HWY_STATIC_TARGET == HWY_SSSE3
#define CAIRN_SIMD_BASE base_ssse3
#else
#define CAIRN_SIMD_BASE base_least
#endif

// The targets that kernels are compiled for, beside the static one: AVX-512 and AVX2. Every x86 machine that trains has the
// second; each target costs compile time in every unit.
#if (HWY_TARGETS & HWY_AVX3) && HWY_STATIC_TARGET != HWY_AVX3 && HWY_STATIC_TARGET != HWY_AVX3_DL
#define CAIRN_SIMD_AVX3
#define CAIRN_SIMD_CHOICE_AVX3(table) {HWY_AVX3, &N_AVX3::table},
#else
#define CAIRN_SIMD_CHOICE_AVX3(table)
#endif
#if (HWY_TARGETS & HWY_AVX2) && HWY_STATIC_TARGET > HWY_AVX2
#define CAIRN_SIMD_AVX2
#define CAIRN_SIMD_CHOICE_AVX2(table) {HWY_AVX2, &N_AVX2::table},
#else
#define CAIRN_SIMD_CHOICE_AVX2(table)
#endif

/// In the namespace of the kernels: initialises an array of `simd::choice` with the table `table` of every target, best first.
#define CAIRN_SIMD_CHOICES(table)                                                                                  \
  {                                                                                                                \
      CAIRN_SIMD_CHOICE_AVX3(table) CAIRN_SIMD_CHOICE_AVX2(table){HWY_STATIC_TARGET, &HWY_STATIC_DISPATCH(table)}, \
  }

namespace cairn::simd {

/// A table of kernels and the target that they are compiled for.
template <class Table>
struct choice {
  std::int64_t target;
  const Table* kernels;

  /// Can this machine run them?
  [[nodiscard]] bool runs() const noexcept { return (hwy::SupportedTargets() & target) != 0; }
};

/// The first table that this machine can run; `choices` are ordered best first. Call it once and keep the result.
template <class Table, std::size_t N>
[[nodiscard]] const Table& best(const choice<Table> (&choices)[N]) noexcept {
  for (const auto& each : choices)
    if (each.runs()) return *each.kernels;
  return *choices[N - 1].kernels;
}

}  // namespace cairn::simd
