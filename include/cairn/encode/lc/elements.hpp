// SPDX-License-Identifier: MIT
// Elements of a leaf as floats: in place where they are F32, else a strip at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "cairn/core/dtype.hpp"
#include "cairn/core/float_environment.hpp"
#include "cairn/encode/lc/options.hpp"
#include "cairn/encode/simd/lc_kernels.hpp"

namespace cairn::inline v0_1::detail::lc {

/// Elements of a block, which one thread codes.
inline constexpr std::size_t block_elements = std::size_t{1} << 20;

/// Elements of a strip: few enough to stay in the cache with their results.
inline constexpr std::size_t strip_elements = 4096;

[[nodiscard]] constexpr bool is_quantizable(dtype type) noexcept {
  return type == dtype::f32 || type == dtype::bf16 || type == dtype::f16;
}

[[nodiscard]] constexpr std::size_t blocks_of(std::size_t elements) noexcept {
  return (elements + block_elements - 1) / block_elements;
}

[[nodiscard]] constexpr std::size_t block_size(std::size_t elements, std::size_t block) noexcept {
  return std::min(block_elements, elements - block * block_elements);
}

/// Memory for a strip.
struct strip {
  alignas(64) float floats[strip_elements];
};

/// 16-bit elements as floats.
inline void widen(dtype type, const std::byte* in, std::size_t n, float* out) noexcept {
  const auto& kernels = simd::half_floats();
  (type == dtype::bf16 ? kernels.widen_bf16 : kernels.widen_f16)(reinterpret_cast<const std::uint16_t*>(in), n, out);
}

/// The `n` elements at `in`, at most a strip, as floats: `in` itself, or `scratch`.
[[nodiscard]] inline const float* as_floats(dtype type, const std::byte* in, std::size_t n, strip& scratch) noexcept {
  if (type == dtype::f32) return reinterpret_cast<const float*>(in);
  widen(type, in, n, scratch.floats);
  return scratch.floats;
}

/// Stores floats as elements, rounded to nearest, ties to even; does nothing when they are the elements.
inline void store_floats(dtype type, const float* in, std::size_t n, std::byte* out) noexcept {
  if (type == dtype::f32) {
    if (n != 0 && static_cast<const void*>(in) != out) std::memcpy(out, in, n * sizeof *in);
    return;
  }
  const auto& kernels = simd::half_floats();
  (type == dtype::bf16 ? kernels.narrow_bf16 : kernels.narrow_f16)(in, n, reinterpret_cast<std::uint16_t*>(out));
}

/// The real elements of a piece, and the same elements as a reader restores them from the parent (`tracked`). As
/// floats, and in the kernels (simd/lc_kernels.hpp), these are `u` and `a`; `b` is what a reader will
/// restore from this checkpoint.
struct delta_view {
  dtype type{};
  std::span<const std::byte> values, reference;
  delta_kind kind = delta_kind::difference;

  [[nodiscard]] std::size_t count() const noexcept { return values.size() / size_of(type); }
};

/// Calls `visit(real, tracked, n)` with the elements [begin, end) as floats, strip by strip, in order.
template <class Visit>
void for_each_strip(const delta_view& delta, std::size_t begin, std::size_t end, const Visit& visit) {
  strip real, tracked;
  const std::size_t item = size_of(delta.type);
  for (std::size_t i = begin; i < end; i += strip_elements) {
    const std::size_t n = std::min(strip_elements, end - i);
    visit(as_floats(delta.type, delta.values.data() + i * item, n, real),
          as_floats(delta.type, delta.reference.data() + i * item, n, tracked), n);
  }
}

/// Calls `visit(u, a, n)` with floats whose differences are the deltas: the elements, or their ratios and zeros.
template <class Visit>
void for_each_delta_strip(const delta_view& delta, std::size_t begin, std::size_t end, const Visit& visit) {
  if (delta.kind == delta_kind::difference) return for_each_strip(delta, begin, end, visit);
  strip ratios;
  const strip zeros{};
  for_each_strip(delta, begin, end, [&](const float* u, const float* a, std::size_t n) {
    simd::ratios().ratios(u, a, n, ratios.floats);
    visit(ratios.floats, zeros.floats, n);
  });
}

}  // namespace cairn::inline v0_1::detail::lc
