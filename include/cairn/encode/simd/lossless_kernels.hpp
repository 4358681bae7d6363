// SPDX-License-Identifier: MIT
// The kernels of lossless: byte planes, and elements that are not zero.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cairn/encode/simd/targets.hpp"

namespace cairn::inline v0_1::detail::simd {

/// For elements of `Width` bytes: the source of each byte of the result, for all sets of marked elements. Bit i of a
/// set marks element i.
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

/// For elements of one size. Memory need not be aligned; inputs and outputs do not overlap.
struct plane_kernels {
  /// Copies byte `b` of all `count` elements to `planes[b]`. With `rotate`, elements are first rotated left by one bit:
  /// the sign of a floating-point number becomes the lowest bit, and the exponent begins at the highest one. Elements
  /// of one byte are not rotated.
  void (*split)(const std::byte* values, std::size_t count, bool rotate, std::byte* const* planes) noexcept;
  /// The reverse of `split`.
  void (*merge)(const std::byte* const* planes, std::size_t count, bool rotate, std::byte* values) noexcept;
};

struct planes_kernels {
  std::int64_t target;
  plane_kernels of_1_2_4_8_bytes[4];
  /// `out` = `a` XOR `b`; `out` may be one of them.
  void (*combine)(const std::byte* a, const std::byte* b, std::size_t bytes, std::byte* out) noexcept;

  /// For elements of 1, 2, 4 or 8 bytes.
  [[nodiscard]] const plane_kernels& of_width(std::size_t bytes) const noexcept {
    return of_1_2_4_8_bytes[bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3];
  }
};

[[nodiscard]] const planes_kernels& planes() noexcept;
[[nodiscard]] kernel_tables<planes_kernels> all_planes() noexcept;

/// For elements of one size; one is zero if its bits are. Memory need not be aligned; input and output do not overlap.
struct zero_kernels {
  /// Sets bit i of `bits`, the lowest of a byte first, where element i is not zero; the unused bits of the last byte
  /// are 0. Returns the number of set bits.
  std::size_t (*mark)(const std::byte* values, std::size_t count, std::byte* bits) noexcept;
  /// Copies the marked elements to `packed`, which has room for 16 bytes more. Returns their number.
  std::size_t (*pack)(const std::byte* values, const std::byte* bits, std::size_t count, std::byte* packed) noexcept;
  /// The reverse of `pack`: elements that are not marked become zero. May read 16 bytes beyond the packed elements.
  /// Returns the number of marked ones.
  std::size_t (*unpack)(const std::byte* packed, const std::byte* bits, std::size_t count, std::byte* values) noexcept;
};

struct zeros_kernels {
  std::int64_t target;
  zero_kernels of_1_2_4_8_bytes[4];
  /// The number of set bits.
  std::size_t (*count_marks)(const std::byte* bits, std::size_t bytes) noexcept;

  /// For elements of 1, 2, 4 or 8 bytes.
  [[nodiscard]] const zero_kernels& of_width(std::size_t bytes) const noexcept {
    return of_1_2_4_8_bytes[bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3];
  }
};

[[nodiscard]] const zeros_kernels& zeros() noexcept;
[[nodiscard]] kernel_tables<zeros_kernels> all_zeros() noexcept;

}  // namespace cairn::inline v0_1::detail::simd
