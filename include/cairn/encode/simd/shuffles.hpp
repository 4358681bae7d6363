// SPDX-License-Identifier: MIT
// Byte shuffles of 16 bytes that move marked elements to the front, and back.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cairn::inline v0_1::detail::simd {

/// For elements of `Width` bytes: the source of each byte of the result, for all sets of marked elements. Bit i of a set marks
/// element i.
template <std::size_t Width>
struct shuffles {
  static constexpr std::size_t bytes = 16;
  static constexpr std::size_t elements = bytes / Width;
  static constexpr std::size_t ways = std::size_t{1} << elements;
  static constexpr std::uint8_t zero = 0x80;  // gives a zero byte

  std::uint8_t pack[ways][bytes];    ///< bytes after the marked elements are unspecified
  std::uint8_t unpack[ways][bytes];  ///< elements that are not marked become zeros
  std::uint8_t marked[ways];         ///< number of marked elements

  constexpr shuffles() noexcept : pack{}, unpack{}, marked{} {
    for (std::size_t way = 0; way < ways; ++way) {
      std::size_t packed = 0;
      for (std::size_t i = 0; i < elements; ++i) {
        const bool is_marked = (way >> i & 1) != 0;
        for (std::size_t b = 0; b < Width; ++b) {
          if (is_marked) pack[way][packed * Width + b] = static_cast<std::uint8_t>(i * Width + b);
          unpack[way][i * Width + b] = is_marked ? static_cast<std::uint8_t>(packed * Width + b) : zero;
        }
        packed += is_marked ? 1 : 0;
      }
      marked[way] = static_cast<std::uint8_t>(packed);
    }
  }
};

template <class Shuffles>
inline constexpr Shuffles all_shuffles{};

}  // namespace cairn::inline v0_1::detail::simd
