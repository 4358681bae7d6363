// SPDX-License-Identifier: MIT
// Quantizes: elements, promoted buckets -> packed symbols, exceptions, errors, references. Adds symbols to elements.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
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
#include "cairn/encode/lc/survey.hpp"
#include "cairn/encode/simd/lc_kernels.hpp"

namespace cairn::inline v0_1::detail::lc {

/// An element that is stored exactly, with its index in the block.
struct exception {
  std::uint32_t index = 0;
  std::uint32_t bits = 0;
};

/// A quantization with more exceptions in a block is rejected.
[[nodiscard]] constexpr std::size_t most_exceptions(std::size_t elements) noexcept { return elements / 64 + 1; }

/// Bytes of the packed symbols of these elements: whole groups of 64 bytes.
[[nodiscard]] constexpr std::size_t packed_size(std::size_t elements, unsigned bits) noexcept {
  const std::size_t group = bits == 2 ? 256 : 128;
  return (elements + group - 1) / group * 64;
}

[[nodiscard]] inline simd::symbol_table make_symbols(std::span<const promoted> chosen) noexcept {
  simd::symbol_table symbols;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    symbols.keys[i + 1] = chosen[i].key;
    symbols.values[i + 1] = chosen[i].value;
  }
  return symbols;
}

/// Sums over elements that are finite.
struct loss_sums {
  simd::error_sums errors{};
  double delta_squares = 0;  ///< of the changes since the parent

  void add(const loss_sums& more) noexcept {
    errors.squares += more.errors.squares;
    errors.real_squares += more.errors.real_squares;
    errors.largest = std::max(errors.largest, more.errors.largest);
    delta_squares += more.delta_squares;
  }
};

[[nodiscard]] inline loss_sums sums_of(const float* u, const float* a, const float* b, std::size_t n) noexcept {
  return {simd::buckets().errors(u, b, n), simd::buckets().squares(u, a, n)};
}

/// The root of a quotient of sums of squares, never too small: kernels cut errors to 26 bits, and round deltas to 24.
[[nodiscard]] inline double rounded_up_ratio(double squares, double of) noexcept {
  if (squares == 0) return 0;
  return of == 0 ? infinite() : std::sqrt(squares / of) * (1 + 0x1p-22);
}

/// A leaf after quantization.
struct quantized {
  std::unique_ptr<std::byte[]> packed;             ///< of all blocks in order
  std::vector<std::vector<exception>> exceptions;  ///< per block, by index; empty: there are none
  loss_sums sums;
  bool too_many_exceptions = false;

  [[nodiscard]] loss lost() const noexcept {
    return {sums.errors.largest, rounded_up_ratio(sums.errors.squares, sums.errors.real_squares),
            rounded_up_ratio(sums.errors.squares, sums.delta_squares)};
  }
};

inline void pack(unsigned bits, const float* u, const float* a, std::size_t n, const simd::symbol_table& symbols,
                 float* b, std::byte* packed) noexcept {
  const auto& kernels = simd::symbols();
  (bits == 2 ? kernels.pack2 : kernels.pack3)(u, a, n, symbols, b, packed);
}

/// The same for ratios: `b` have the bits of `a` plus the values of the symbols.
inline void pack_ratios(unsigned bits, const float* u, const float* a, std::size_t n, const simd::symbol_table& symbols,
                        float* b, std::byte* packed) noexcept {
  strip ratios;
  const strip zeros{};
  simd::ratios().ratios(u, a, n, ratios.floats);
  pack(bits, ratios.floats, zeros.floats, n, symbols, b, packed);
  simd::ratios().multiply(a, b, n, b);
}

/// Which elements need not be stored exactly.
struct tolerance {
  delta_kind kind = delta_kind::difference;
  double max_error = infinite();

  /// Whether all elements of a strip are tolerated, which have these sums.
  [[nodiscard]] bool has_all(const float* u, const float* b, std::size_t n, const loss_sums& sums) const noexcept {
    return is_finite(sums.errors.squares) && is_finite(sums.delta_squares) && sums.errors.largest <= max_error &&
           (kind == delta_kind::difference || simd::ratios().are_near(u, b, n));
  }

  /// Whether a real element u, which is a in the parent, may be restored as b. An infinity that stays may.
  [[nodiscard]] bool has(float u, float a, float b) const noexcept {
    if (std::bit_cast<std::uint32_t>(u) == std::bit_cast<std::uint32_t>(b) && !is_nan(u)) return true;
    if (!is_finite(u) || !is_finite(b) || std::abs(static_cast<double>(b) - static_cast<double>(u)) > max_error)
      return false;
    if (kind == delta_kind::difference) return is_finite(u - a);
    const float real = std::abs(u), restored = std::abs(b);
    return std::signbit(u) == std::signbit(b) && real <= 2 * restored && restored <= 2 * real;
  }
};

/// The sums of a strip in which flagged elements are stored exactly. Elements that are not finite do not count, and
/// deltas that are not do not either.
[[nodiscard]] inline loss_sums sums_beside(const float* u, const float* a, const float* b, std::size_t n,
                                           const std::array<bool, strip_elements>& flags) noexcept {
  strip clean_u, clean_a, clean_b;
  for (std::size_t i = 0; i < n; ++i) {
    clean_u.floats[i] = is_finite(u[i]) ? u[i] : 0.0F;
    clean_a.floats[i] = is_finite(u[i] - a[i]) ? a[i] : clean_u.floats[i];
    clean_b.floats[i] = flags[i] || !is_finite(u[i]) ? clean_u.floats[i] : b[i];
  }
  return sums_of(clean_u.floats, clean_a.floats, clean_b.floats, n);
}

[[nodiscard]] inline std::uint32_t element_bits(const std::byte* at, std::size_t item) noexcept {
  std::uint32_t bits = 0;
  std::memcpy(&bits, at, item);
  return bits;
}

/// Quantizes and updates `reference`, which `delta` refers to, in one pass, blocks in parallel. All deltas, which are
/// differences, and all sums have to be finite.
[[nodiscard]] inline quantized quantize_in_place(const delta_view& delta, std::span<std::byte> reference, unsigned bits,
                                                 const simd::symbol_table& symbols, unsigned threads) {
  const std::size_t count = delta.count(), blocks = blocks_of(count), item = size_of(delta.type);
  quantized result;
  result.packed = std::make_unique_for_overwrite<std::byte[]>(packed_size(count, bits));
  std::vector<loss_sums> sums(blocks);
  parallel_for(blocks, threads, [&](std::size_t block, unsigned) {
    const default_float_environment guard;
    strip rounded;
    std::size_t i = block * block_elements;
    for_each_strip(delta, i, i + block_size(count, block), [&](const float* u, const float* a, std::size_t n) {
      std::byte* const tracked = reference.data() + i * item;
      float* const b = delta.type == dtype::f32 ? reinterpret_cast<float*>(tracked) : rounded.floats;
      loss_sums now{{}, simd::buckets().squares(u, a, n)};
      pack(bits, u, a, n, symbols, b, result.packed.get() + packed_size(i, bits));
      store_floats(delta.type, b, n, tracked);
      now.errors = simd::buckets().errors(u, as_floats(delta.type, tracked, n, rounded), n);
      sums[block].add(now);
      i += n;
    });
  });
  for (const auto& sum : sums) result.sums.add(sum);
  return result;
}

/// Quantizes any elements and does not change the reference; `apply` does. Elements that would be farther than
/// `max_error` from the real ones become exceptions.
[[nodiscard]] inline quantized quantize_on_trial(const delta_view& delta, unsigned bits,
                                                 const simd::symbol_table& symbols, unsigned threads,
                                                 double max_error = infinite()) {
  const std::size_t count = delta.count(), blocks = blocks_of(count), item = size_of(delta.type);
  const tolerance tolerated{delta.kind, max_error};
  quantized result;
  result.packed = std::make_unique_for_overwrite<std::byte[]>(packed_size(count, bits));
  result.exceptions.resize(blocks);
  std::vector<loss_sums> sums(blocks);
  parallel_for(blocks, threads, [&](std::size_t block, unsigned) {
    const default_float_environment guard;
    strip moved;
    alignas(64) std::byte stored[strip_elements * sizeof(float)];
    auto& exceptions = result.exceptions[block];
    const std::size_t begin = block * block_elements, size = block_size(count, block);
    std::size_t i = begin;
    for_each_strip(delta, begin, begin + size, [&](const float* u, const float* a, std::size_t n) {
      if (exceptions.size() > most_exceptions(size)) return;  // rejected
      std::byte* const packed = result.packed.get() + packed_size(i, bits);
      if (delta.kind == delta_kind::ratio)
        pack_ratios(bits, u, a, n, symbols, moved.floats, packed);
      else
        pack(bits, u, a, n, symbols, moved.floats, packed);
      store_floats(delta.type, moved.floats, n, stored);
      const float* const b = as_floats(delta.type, stored, n, moved);
      auto now = sums_of(u, a, b, n);
      if (!tolerated.has_all(u, b, n, now)) {
        std::array<bool, strip_elements> flags{};
        for (std::size_t k = 0; k < n; ++k) flags[k] = !tolerated.has(u[k], a[k], b[k]);
        now = sums_beside(u, a, b, n, flags);
        for (std::size_t k = 0; k < n && exceptions.size() <= most_exceptions(size); ++k)
          if (flags[k])
            exceptions.push_back(
                {static_cast<std::uint32_t>(i + k - begin), element_bits(delta.values.data() + (i + k) * item, item)});
      }
      sums[block].add(now);
      i += n;
    });
  });
  for (std::size_t block = 0; block < blocks; ++block) {
    result.sums.add(sums[block]);
    result.too_many_exceptions |= result.exceptions[block].size() > most_exceptions(block_size(count, block));
  }
  return result;
}

/// Adds values of packed symbols to a block's elements, or their bits. Needs the default floating-point environment.
inline void add_symbols(dtype type, delta_kind kind, unsigned bits, const std::byte* packed,
                        const simd::symbol_table& symbols, std::span<std::byte> elements) noexcept {
  const auto& kernels = simd::symbols();
  const auto add = bits == 2 ? kernels.add2 : kernels.add3;
  const std::size_t item = size_of(type), count = elements.size() / item;
  if (type == dtype::f32 && kind == delta_kind::difference)
    return add(packed, count, symbols, reinterpret_cast<float*>(elements.data()));
  strip room, values;
  for (std::size_t i = 0; i < count; i += strip_elements) {
    const std::size_t n = std::min(strip_elements, count - i);
    std::byte* const at = elements.data() + i * item;
    const std::byte* const from = packed + packed_size(i, bits);
    if (kind == delta_kind::ratio) {
      std::fill_n(values.floats, n, 0.0F);
      add(from, n, symbols, values.floats);
      simd::ratios().multiply(as_floats(type, at, n, room), values.floats, n, room.floats);
    } else {
      widen(type, at, n, room.floats);
      add(from, n, symbols, room.floats);
    }
    store_floats(type, room.floats, n, at);
  }
}

/// Updates the reference to what was quantized on trial.
inline void apply(const quantized& trial, dtype type, delta_kind kind, unsigned bits, const simd::symbol_table& symbols,
                  std::span<std::byte> elements, unsigned threads) {
  const std::size_t item = size_of(type), count = elements.size() / item;
  parallel_for(blocks_of(count), threads, [&](std::size_t block, unsigned) {
    const default_float_environment guard;
    const std::size_t begin = block * block_elements;
    const auto some = elements.subspan(begin * item, block_size(count, block) * item);
    add_symbols(type, kind, bits, trial.packed.get() + packed_size(begin, bits), symbols, some);
    for (const auto& e : trial.exceptions[block]) std::memcpy(some.data() + e.index * item, &e.bits, item);
  });
}

}  // namespace cairn::inline v0_1::detail::lc
