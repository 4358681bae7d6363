// Kernels of the lossy codec that change elements: deltas of floats -> packed symbols, and what these add.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cairn/core/config.hpp"
#include "cairn/encode/simd/targets.hpp"

namespace cairn::detail::simd {

/// No delta has this key.
inline constexpr std::uint32_t no_key = 0xFFFF;

/// What symbols stand for. Symbol 0 is for all deltas that no other symbol is for.
struct symbol_table {
  std::uint32_t keys[8] = {no_key, no_key, no_key, no_key, no_key, no_key, no_key, no_key};  ///< sign << 8 | exponent
  float values[8] = {};
  float floor = 0;  ///< nothing gets below it; minus infinity: there is none
};

/// `u`, `a` and `b` have `n` elements, at multiples of 4 bytes. All need the default floating-point environment.
struct symbols_kernels {
  std::int64_t target;
  /// Classifies deltas, sets `b` (which may be `a`) to max(a + value of the symbol, floor), and packs the symbols, of 2 or 3
  /// bits; +0 and -0 are symbol 0. 64 bytes for 256 elements: element i is in word i % 16 (u32), from bit 2 * (i / 16). Or 64 bytes
  /// for 128 elements: from bit 4 * (i / 16). What is missing to the last 64 bytes are symbols 0.
  void (*pack2)(const float* u, const float* a, std::size_t n, const symbol_table& symbols, float* b,
                std::byte* packed) noexcept;
  void (*pack3)(const float* u, const float* a, std::size_t n, const symbol_table& symbols, float* b,
                std::byte* packed) noexcept;

  /// a = max(a + value of the symbol, floor), for packed symbols. Every fourth bit of symbols of 3 bits means nothing.
  void (*add2)(const std::byte* packed, std::size_t n, const symbol_table& symbols, float* a) noexcept;
  void (*add3)(const std::byte* packed, std::size_t n, const symbol_table& symbols, float* a) noexcept;
};

/// Those for this machine.
[[nodiscard]] CAIRN_INLINE const symbols_kernels& symbols() noexcept;
/// Those of every target that this machine can run; all give the same bits.
[[nodiscard]] CAIRN_INLINE kernel_tables<symbols_kernels> all_symbols() noexcept;

}  // namespace cairn::detail::simd

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/encode/simd/lc_kernels.ipp"  // IWYU pragma: keep
#endif
