// SPDX-License-Identifier: MIT
// Elements as the lossless codec sees them: words of 1, 2, 4 or 8 bytes, or their XOR with a reference.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "cairn/core/dtype.hpp"
#include "cairn/encode/simd/lossless_kernels.hpp"

namespace cairn::inline v0_1::detail::lossless {

/// What the codec needs to know of a dtype.
struct element_format {
  std::size_t width = 1;  ///< bytes: 1, 2, 4 or 8
  bool floating = false;  ///< rotating left by one bit may align its exponent to a byte

  friend bool operator==(const element_format&, const element_format&) = default;
};

[[nodiscard]] constexpr element_format format_of(dtype type) noexcept {
  return {size_of(type), is_floating(type) && size_of(type) > 1};
}

/// Elements of a strip: few enough for the L1 cache. A multiple of 64.
inline constexpr std::size_t strip_elements = 1024;
using strip_memory = std::array<std::byte, strip_elements * sizeof(std::uint64_t) + 64>;

/// `count` elements: `values`, or `values` XOR `reference` where there is one.
struct elements {
  element_format format;
  const std::byte* values = nullptr;
  const std::byte* reference = nullptr;
  std::size_t count = 0;

  [[nodiscard]] elements range(std::size_t first, std::size_t range_count) const noexcept {
    const std::size_t offset = first * format.width;
    return {format, values + offset, reference == nullptr ? nullptr : reference + offset, range_count};
  }

  /// The words of at most `strip_elements` elements: in place, or in `memory` where they are an XOR.
  [[nodiscard]] const std::byte* words(strip_memory& memory) const noexcept {
    if (reference == nullptr) return values;
    simd::planes().combine(values, reference, count * format.width, memory.data());
    return memory.data();
  }

  /// Calls `act(first, strip)` for all strips, in order.
  template <class Act>
  void for_each_strip(const Act& act) const {
    for (std::size_t first = 0; first < count; first += strip_elements)
      act(first, range(first, std::min(strip_elements, count - first)));
  }
};

}  // namespace cairn::inline v0_1::detail::lossless
