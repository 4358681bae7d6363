// SPDX-License-Identifier: MIT
// Quantizes: elements and promoted buckets -> packed symbols, exceptions, errors and new reference elements. Also adds symbols to elements.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "cairn/core/encoding.hpp"
#include "cairn/core/float_bits.hpp"
#include "cairn/system/parallel.hpp"
#include "cairn/encode/lc/elements.hpp"
#include "cairn/encode/lc/float_environment.hpp"
#include "cairn/encode/lc/survey.hpp"
#include "cairn/encode/simd/buckets.hpp"
#include "cairn/encode/simd/symbols.hpp"

namespace cairn::inline v0_1::detail::lc {

/// An element that is stored exactly, with its index in the block.
struct exception {
  std::uint32_t index = 0;
  std::uint32_t bits = 0;
};

/// A leaf with more exceptions in a block is encoded without loss.
[[nodiscard]] constexpr std::size_t most_exceptions(std::size_t elements) noexcept { return elements / 64 + 1; }

/// Bytes of the packed symbols of these elements: whole groups of 64 bytes.
[[nodiscard]] constexpr std::size_t packed_size(std::size_t elements, unsigned bits) noexcept {
  const std::size_t group = bits == 2 ? 256 : 128;
  return (elements + group - 1) / group * 64;
}

[[nodiscard]] inline simd::symbol_table make_symbols(std::span<const promoted> chosen, float floor) noexcept {
  simd::symbol_table symbols;
  symbols.floor = floor;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    symbols.keys[i + 1] = chosen[i].key;
    symbols.values[i + 1] = chosen[i].value;
  }
  return symbols;
}

/// A leaf after quantization.
struct quantized {
  std::unique_ptr<std::byte[]> packed;             ///< of all blocks in order
  std::vector<std::vector<exception>> exceptions;  ///< per block, by index; empty: there are none
  simd::error_sums errors;                         ///< over finite elements
  bool too_many_exceptions = false;

  [[nodiscard]] loss lost() const noexcept {
    if (errors.squares == 0) return {errors.largest, 0};
    return {errors.largest, errors.real_squares == 0 ? infinite() : std::sqrt(errors.squares / errors.real_squares)};
  }
};

inline void add(simd::error_sums& sum, const simd::error_sums& more) noexcept {
  sum.squares += more.squares;
  sum.real_squares += more.real_squares;
  sum.largest = std::max(sum.largest, more.largest);
}

inline void pack(unsigned bits, const float* u, const float* a, std::size_t n, const simd::symbol_table& symbols,
                 float* b, std::byte* packed) noexcept {
  const auto& kernels = simd::symbols();
  (bits == 2 ? kernels.pack2 : kernels.pack3)(u, a, n, symbols, b, packed);
}

/// Whether a strip has deltas that are not finite.
[[nodiscard]] inline bool has_exceptions(const float* u, const float* a, std::size_t n) noexcept {
  const simd::bucket_range none[4];
  simd::bucket_reach reaches[4];
  return simd::buckets().survey(u, a, n, 0, none, reaches).largest >= float_exponent_bits;
}

/// Also flags the values that are not finite.
inline void flag_exceptions(const float* values, std::size_t n, std::array<bool, strip_elements>& flags) noexcept {
  for (std::size_t i = 0; i < n; ++i) flags[i] = flags[i] || !is_finite(values[i]);
}

/// The errors of a strip in which flagged elements are stored exactly. Elements that are not finite do not count.
[[nodiscard]] inline simd::error_sums errors_beside(const float* real, const float* approximation, std::size_t n,
                                                    const std::array<bool, strip_elements>& flags) noexcept {
  strip clean_real, clean_approximation;
  for (std::size_t i = 0; i < n; ++i) {
    clean_real.floats[i] = is_finite(real[i]) ? real[i] : 0.0F;
    clean_approximation.floats[i] = flags[i] ? clean_real.floats[i] : approximation[i];
  }
  return simd::buckets().errors(clean_real.floats, clean_approximation.floats, n);
}

[[nodiscard]] inline std::uint32_t element_bits(const std::byte* at, std::size_t item) noexcept {
  std::uint32_t bits = 0;
  std::memcpy(&bits, at, item);
  return bits;
}

/// Quantizes and updates `reference`, which `delta` refers to, in one pass, blocks in parallel. All deltas and all sums have to be
/// finite.
[[nodiscard]] inline quantized quantize_in_place(const delta_view& delta, std::span<std::byte> reference, unsigned bits,
                                                 const simd::symbol_table& symbols, unsigned threads) {
  const std::size_t count = delta.count(), blocks = blocks_of(count), item = size_of(delta.type);
  quantized result;
  result.packed = std::make_unique_for_overwrite<std::byte[]>(packed_size(count, bits));
  std::vector<simd::error_sums> sums(blocks);
  parallel_for(blocks, threads, [&](std::size_t block, unsigned) {
    const default_float_environment guard;
    strip rounded;
    std::size_t i = block * block_elements;
    for_each_strip(delta, i, i + block_size(count, block), [&](const float* u, const float* a, std::size_t n) {
      std::byte* const tracked = reference.data() + i * item;
      float* const b = delta.type == dtype::f32 ? reinterpret_cast<float*>(tracked) : rounded.floats;
      pack(bits, u, a, n, symbols, b, result.packed.get() + packed_size(i, bits));
      store_floats(delta.type, b, n, tracked);
      add(sums[block], simd::buckets().errors(u, as_floats(delta.type, tracked, n, rounded), n));
      i += n;
    });
  });
  for (const auto& sum : sums) add(result.errors, sum);
  return result;
}

/// Quantizes any elements and does not change the reference; `apply` does.
[[nodiscard]] inline quantized quantize_on_trial(const delta_view& delta, unsigned bits,
                                                 const simd::symbol_table& symbols, unsigned threads) {
  const std::size_t count = delta.count(), blocks = blocks_of(count), item = size_of(delta.type);
  quantized result;
  result.packed = std::make_unique_for_overwrite<std::byte[]>(packed_size(count, bits));
  result.exceptions.resize(blocks);
  std::vector<simd::error_sums> sums(blocks);
  parallel_for(blocks, threads, [&](std::size_t block, unsigned) {
    const default_float_environment guard;
    strip deltas, moved;
    alignas(64) std::byte stored[strip_elements * sizeof(float)];
    auto& exceptions = result.exceptions[block];
    const std::size_t begin = block * block_elements, size = block_size(count, block);
    std::size_t i = begin;
    for_each_strip(delta, begin, begin + size, [&](const float* u, const float* a, std::size_t n) {
      const bool before = has_exceptions(u, a, n);
      if (before) simd::buckets().deltas(u, a, n, deltas.floats);
      pack(bits, u, a, n, symbols, moved.floats, result.packed.get() + packed_size(i, bits));
      store_floats(delta.type, moved.floats, n, stored);
      const float* const b = as_floats(delta.type, stored, n, moved);
      auto errors = simd::buckets().errors(u, b, n);
      if (before || !is_finite(errors.squares)) {
        std::array<bool, strip_elements> flags{};
        if (before) flag_exceptions(deltas.floats, n, flags);
        flag_exceptions(b, n, flags);
        errors = errors_beside(u, b, n, flags);
        for (std::size_t k = 0; k < n && exceptions.size() <= most_exceptions(size); ++k)
          if (flags[k])
            exceptions.push_back(
                {static_cast<std::uint32_t>(i + k - begin), element_bits(delta.values.data() + (i + k) * item, item)});
      }
      add(sums[block], errors);
      i += n;
    });
  });
  for (std::size_t block = 0; block < blocks; ++block) {
    add(result.errors, sums[block]);
    result.too_many_exceptions |= result.exceptions[block].size() > most_exceptions(block_size(count, block));
  }
  return result;
}

/// Adds the values of packed symbols to the elements of a block. Needs the default floating-point environment.
inline void add_symbols(dtype type, unsigned bits, const std::byte* packed, const simd::symbol_table& symbols,
                        std::span<std::byte> elements) noexcept {
  const auto& kernels = simd::symbols();
  const auto add = bits == 2 ? kernels.add2 : kernels.add3;
  const std::size_t item = size_of(type), count = elements.size() / item;
  if (type == dtype::f32) return add(packed, count, symbols, reinterpret_cast<float*>(elements.data()));
  strip room;
  for (std::size_t i = 0; i < count; i += strip_elements) {
    const std::size_t n = std::min(strip_elements, count - i);
    std::byte* const at = elements.data() + i * item;
    widen(type, at, n, room.floats);
    add(packed + packed_size(i, bits), n, symbols, room.floats);
    store_floats(type, room.floats, n, at);
  }
}

/// Updates the reference to what was quantized on trial.
inline void apply(const quantized& trial, dtype type, unsigned bits, const simd::symbol_table& symbols,
                  std::span<std::byte> elements, unsigned threads) {
  const std::size_t item = size_of(type), count = elements.size() / item;
  parallel_for(blocks_of(count), threads, [&](std::size_t block, unsigned) {
    const default_float_environment guard;
    const std::size_t begin = block * block_elements;
    const auto some = elements.subspan(begin * item, block_size(count, block) * item);
    add_symbols(type, bits, trial.packed.get() + packed_size(begin, bits), symbols, some);
    for (const auto& e : trial.exceptions[block]) std::memcpy(some.data() + e.index * item, &e.bits, item);
  });
}

}  // namespace cairn::inline v0_1::detail::lc
