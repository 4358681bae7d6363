// SPDX-License-Identifier: MIT
// Kernels of lc that only read elements: deltas of floats, the extremes of their buckets, and errors.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cairn/encode/simd/targets.hpp"

namespace cairn::inline v0_1::detail::simd {

/// A bucket: the floats whose bits, as integers, are in [first, last].
struct bucket_range {
  std::uint32_t first = 1, last = 0;
};

/// The least and the greatest bits of the members of a bucket; none where least > greatest.
struct bucket_reach {
  std::uint32_t least = 0xFFFF'FFFF, greatest = 0;
};

/// The bits of the largest |d|, and of the largest one below a ceiling.
struct magnitudes {
  std::uint32_t largest = 0, largest_below = 0;
};

/// Sums over elements that are all finite. For the same bits on every target, sum k of 16 is over the elements i with i % 16 = k,
/// and these sums are added at the end.
struct error_sums {
  double squares = 0;       ///< of approximation - real, cut from 53 to 26 bits before squaring
  double real_squares = 0;  ///< of real
  double largest = 0;       ///< |approximation - real|
};

/// Functions of the deltas d = u - a, where `u` are the real elements, and `a` the same elements as a reader restores them from the parent.
/// `u`, `a` and `d` have `n` elements, aligned to 4 bytes. All need the default floating-point environment.
struct buckets_kernels {
  std::int64_t target;
  void (*deltas)(const float* u, const float* a, std::size_t n, float* d) noexcept;

  /// Sets `reaches[i]` to the extremes in `ranges[i]`, none of which contains +0 or -0. `largest_below` is below `ceiling`, the
  /// bits of a float that is not negative.
  magnitudes (*survey)(const float* u, const float* a, std::size_t n, std::uint32_t ceiling,
                       const bucket_range (&ranges)[4], bucket_reach (&reaches)[4]) noexcept;

  error_sums (*errors)(const float* real, const float* approximation, std::size_t n) noexcept;

  /// The sum of the squares of the deltas, each rounded to a float: in the order of `error_sums`. Not finite where a delta is not.
  double (*squares)(const float* u, const float* a, std::size_t n) noexcept;
};

/// Those for this machine.
[[nodiscard]] const buckets_kernels& buckets() noexcept;
/// Those of every target that this machine can run; all give the same bits.
[[nodiscard]] kernel_tables<buckets_kernels> all_buckets() noexcept;

}  // namespace cairn::inline v0_1::detail::simd
