// SPDX-License-Identifier: MIT
// The kernels of lc: buckets of deltas, 16-bit floats, ratios, and symbols.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cairn/core/float_bits.hpp"
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

/// Sums over elements that are all finite. For the same bits on every target, sum k of 16 is over the elements i with i
/// % 16 = k, and these sums are added at the end.
struct error_sums {
  double squares = 0;       ///< of approximation - real, cut from 53 to 26 bits before squaring
  double real_squares = 0;  ///< of real
  double largest = 0;       ///< |approximation - real|
};

/// Functions of the deltas d = u - a: `u` are the real elements, `a` the same as a reader restores them from the
/// parent. `u`, `a` and `d` have `n` elements, aligned to 4 bytes. All need the default floating-point environment.
struct buckets_kernels {
  std::int64_t target;
  void (*deltas)(const float* u, const float* a, std::size_t n, float* d) noexcept;

  /// Sets `reaches[i]` to the extremes in `ranges[i]`, none of which contains +0 or -0. `largest_below` is below
  /// `ceiling`, the bits of a float that is not negative.
  magnitudes (*survey)(const float* u, const float* a, std::size_t n, std::uint32_t ceiling,
                       const bucket_range (&ranges)[4], bucket_reach (&reaches)[4]) noexcept;

  error_sums (*errors)(const float* real, const float* approximation, std::size_t n) noexcept;

  /// The deltas' sum of squares, each rounded to a float, in the order of `error_sums`. Not finite if a delta is not.
  double (*squares)(const float* u, const float* a, std::size_t n) noexcept;
};

[[nodiscard]] const buckets_kernels& buckets() noexcept;
[[nodiscard]] kernel_tables<buckets_kernels> all_buckets() noexcept;

/// `in` and `out` have `n` elements, aligned to their size. All need the default floating-point environment.
struct half_floats_kernels {
  std::int64_t target;
  /// Exact.
  void (*widen_bf16)(const std::uint16_t* in, std::size_t n, float* out) noexcept;
  void (*widen_f16)(const std::uint16_t* in, std::size_t n, float* out) noexcept;

  /// To the nearest element, ties to even; infinity where that overflows. The result for NaN is unspecified.
  void (*narrow_bf16)(const float* in, std::size_t n, std::uint16_t* out) noexcept;
  void (*narrow_f16)(const float* in, std::size_t n, std::uint16_t* out) noexcept;
};

[[nodiscard]] const half_floats_kernels& half_floats() noexcept;
[[nodiscard]] kernel_tables<half_floats_kernels> all_half_floats() noexcept;

/// `u` are the real elements, `a` what a reader restores from the parent, and `b` what it will restore from this
/// checkpoint. All have `n` elements, aligned to 4 bytes. All functions need the default floating-point environment.
struct ratios_kernels {
  std::int64_t target;
  /// Sets `d` to the bits of u minus those of a, as a number: about 2^23 log2(u / a). 0 where that has no meaning: the
  /// signs differ, one of the two is zero, or one is not finite.
  void (*ratios)(const float* u, const float* a, std::size_t n, float* d) noexcept;

  /// Sets `b` (which may be `a` or `d`) to the float with the bits of a plus d. `d` are whole numbers below 2^31.
  void (*multiply)(const float* a, const float* d, std::size_t n, float* b) noexcept;

  /// Whether all `b` are near to `u`: equal bits; or both finite, of one sign, and b from half to twice as large.
  bool (*are_near)(const float* u, const float* b, std::size_t n) noexcept;
};

[[nodiscard]] const ratios_kernels& ratios() noexcept;
[[nodiscard]] kernel_tables<ratios_kernels> all_ratios() noexcept;

/// Keys that no delta has: that of an unused symbol, and that which zeros get.
inline constexpr std::uint32_t no_key = 0xFFFF, zero_key = 0xFFFE;

/// The bucket and the value of each symbol. Symbol 0 stands for all deltas that have no other symbol.
struct symbol_table {
  std::uint32_t keys[8] = {no_key, no_key, no_key, no_key, no_key, no_key, no_key, no_key};  ///< sign << 8 | exponent
  float values[8] = {};
};

/// `u` are the real elements, `a` what a reader restores from the parent, and `b` what it will restore from this
/// checkpoint. All have `n` elements, aligned to 4 bytes. All functions need the default floating-point environment.
struct symbols_kernels {
  std::int64_t target;
  /// Classifies the deltas u - a, sets `b` (which may be `a`) to a + value of the symbol, and packs the symbols in
  /// groups of 64 bytes: 16 u32 words. A group of 2-bit symbols has 256 elements: element i is in word i % 16, from bit
  /// 2 * (i / 16) on. A group of 3-bit symbols has 128: from bit 4 * (i / 16) on. For example, 2-bit element 37 is in
  /// bits 4 and 5 of word 5. The deltas +0 and -0, and the elements that fill up the last group, have symbol 0.
  void (*pack2)(const float* u, const float* a, std::size_t n, const symbol_table& symbols, float* b,
                std::byte* packed) noexcept;
  void (*pack3)(const float* u, const float* a, std::size_t n, const symbol_table& symbols, float* b,
                std::byte* packed) noexcept;

  /// Adds the values of the symbols to `a`. Ignores the fourth bit of 3-bit symbols.
  void (*add2)(const std::byte* packed, std::size_t n, const symbol_table& symbols, float* a) noexcept;
  void (*add3)(const std::byte* packed, std::size_t n, const symbol_table& symbols, float* a) noexcept;
};

[[nodiscard]] const symbols_kernels& symbols() noexcept;
[[nodiscard]] kernel_tables<symbols_kernels> all_symbols() noexcept;

}  // namespace cairn::inline v0_1::detail::simd
