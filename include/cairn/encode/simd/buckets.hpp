// Kernels of the lossy codec that only look: deltas of floats, the extremes of their buckets, and the errors that are left.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cairn/core/config.hpp"
#include "cairn/encode/simd/targets.hpp"

namespace cairn::detail::simd {

/// The floats whose bits are in [first, last]: members of a bucket.
struct bucket_range {
  std::uint32_t first = 1, last = 0;
};

/// The least and the greatest bits among members of a bucket; the first above the second: it has none.
struct bucket_reach {
  std::uint32_t least = 0xFFFF'FFFF, greatest = 0;
};

/// What `survey` found beside the reach of buckets: the bits of the largest |d|, and those of the largest below a ceiling.
struct magnitudes {
  std::uint32_t largest = 0, largest_below = 0;
};

/// Sums over elements that are all finite. Sixteen sums, of every sixteenth element, are added up at the end, on every target.
struct error_sums {
  double squares = 0;       ///< of approximation - real, whose 53 bits are cut to 26 before they are squared
  double real_squares = 0;  ///< of real
  double largest = 0;       ///< |approximation - real|
};

/// Functions of the deltas d = u - a. `u`, `a` and `d` have `n` elements, at multiples of 4 bytes. All need the default
/// floating-point environment.
struct buckets_kernels {
  std::int64_t target;
  void (*deltas)(const float* u, const float* a, std::size_t n, float* d) noexcept;

  /// Sets `reaches[i]` to the reach of `ranges[i]`, of which none has +0 or -0. Magnitudes of at least `ceiling` (bits of a
  /// float that is not negative) are not `largest_below`.
  magnitudes (*survey)(const float* u, const float* a, std::size_t n, std::uint32_t ceiling,
                       const bucket_range (&ranges)[4], bucket_reach (&reaches)[4]) noexcept;

  error_sums (*errors)(const float* real, const float* approximation, std::size_t n) noexcept;
};

/// Those for this machine.
[[nodiscard]] CAIRN_INLINE const buckets_kernels& buckets() noexcept;
/// Those of every target that this machine can run; all give the same bits.
[[nodiscard]] CAIRN_INLINE kernel_tables<buckets_kernels> all_buckets() noexcept;

}  // namespace cairn::detail::simd

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/encode/simd/lc_kernels.ipp"  // IWYU pragma: keep
#endif
