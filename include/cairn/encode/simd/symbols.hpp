// SPDX-License-Identifier: MIT
// Kernels of lc that change elements: deltas of floats -> packed symbols, and the values that symbols add.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cairn/core/float_bits.hpp"
#include "cairn/encode/simd/targets.hpp"

namespace cairn::inline v0_1::detail::simd {

/// Keys that no delta has: that of an unused symbol, and that which zeros get.
inline constexpr std::uint32_t no_key = 0xFFFF, zero_key = 0xFFFE;

/// The bucket and the value of each symbol. Symbol 0 stands for all deltas that have no other symbol.
struct symbol_table {
  std::uint32_t keys[8] = {no_key, no_key, no_key, no_key, no_key, no_key, no_key, no_key};  ///< sign << 8 | exponent
  float values[8] = {};
};

/// `u` are the real elements, `a` the same elements as a reader restores them from the parent, and `b` what a reader will restore from this
/// checkpoint. All have `n` elements, aligned to 4 bytes. All functions need the default floating-point environment.
struct symbols_kernels {
  std::int64_t target;
  /// Classifies the deltas u - a, sets `b` (which may be `a`) to a + value of the symbol, and packs the symbols in
  /// groups of 64 bytes, which are 16 u32 words. A group of 2-bit symbols has 256 elements: element i is in word i % 16, from bit
  /// 2 * (i / 16) on. A group of 3-bit symbols has 128: from bit 4 * (i / 16) on. For example, 2-bit element 37 is in bits 4 and
  /// 5 of word 5. The deltas +0 and -0, and the elements that fill up the last group, have symbol 0.
  void (*pack2)(const float* u, const float* a, std::size_t n, const symbol_table& symbols, float* b,
                std::byte* packed) noexcept;
  void (*pack3)(const float* u, const float* a, std::size_t n, const symbol_table& symbols, float* b,
                std::byte* packed) noexcept;

  /// Adds the values of the symbols to `a`. Ignores the fourth bit of 3-bit symbols.
  void (*add2)(const std::byte* packed, std::size_t n, const symbol_table& symbols, float* a) noexcept;
  void (*add3)(const std::byte* packed, std::size_t n, const symbol_table& symbols, float* a) noexcept;
};

/// Those for this machine.
[[nodiscard]] const symbols_kernels& symbols() noexcept;
/// Those of every target that this machine can run; all give the same bits.
[[nodiscard]] kernel_tables<symbols_kernels> all_symbols() noexcept;

}  // namespace cairn::inline v0_1::detail::simd
