// Elements as the lossless codec sees them: words of 1, 2, 4 or 8 bytes, or their XOR with a reference.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "cairn/core/dtype.hpp"
#include "cairn/encode/simd/planes.hpp"

namespace cairn::detail::lossless {

/// What the codec needs to know of a dtype.
struct element_format {
  std::size_t width = 1;  ///< bytes: 1, 2, 4 or 8
  bool floating = false;  ///< rotating left by one bit may align its exponent to a byte

  friend bool operator==(const element_format&, const element_format&) = default;
};

[[nodiscard]] constexpr element_format format_of(dtype type) noexcept {
  return {size_of(type), is_floating(type) && size_of(type) > 1};
}

/// Elements that go through all steps at a time: few enough for the L1 cache. A multiple of 64.
inline constexpr std::size_t chunk_elements = 1024;
using chunk_memory = std::array<std::byte, chunk_elements * sizeof(std::uint64_t) + 64>;

/// `count` elements: `values`, or `values` XOR `reference` where there is one.
struct elements {
  element_format format;
  const std::byte* values = nullptr;
  const std::byte* reference = nullptr;
  std::size_t count = 0;

  [[nodiscard]] elements part(std::size_t first, std::size_t part_count) const noexcept {
    const std::size_t offset = first * format.width;
    return {format, values + offset, reference == nullptr ? nullptr : reference + offset, part_count};
  }

  /// The words of at most `chunk_elements` elements: in place, or in `memory` where they are an XOR.
  [[nodiscard]] const std::byte* words(chunk_memory& memory) const noexcept {
    if (reference == nullptr) return values;
    simd::planes().combine(values, reference, count * format.width, memory.data());
    return memory.data();
  }

  /// Calls `act(first, part)` for consecutive parts of at most `chunk_elements`.
  template <class Act>
  void for_each_chunk(const Act& act) const {
    for (std::size_t first = 0; first < count; first += chunk_elements)
      act(first, part(first, std::min(chunk_elements, count - first)));
  }
};

}  // namespace cairn::detail::lossless
