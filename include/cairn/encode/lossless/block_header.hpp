// SPDX-License-Identifier: MIT
// The header of a block of elements: how it is coded, and the bytes of its marks and planes.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace cairn::inline v0_1::detail::lossless {

/// Layout, numbers little-endian:
///   u8 flags: bit 0 zeros are left out, bit 1 rotated; u8 set of coded planes
///   if zeros are left out: u32 elements kept, u32 bytes of the marks
///   for every coded plane, the lowest first: u32 bytes
/// The header is followed by the planes that are not coded, the marks, and the coded planes, the lowest plane first.
struct block_header {
  bool without_zeros = false;
  bool rotated = false;       ///< each element was rotated left by one bit
  unsigned coded_planes = 0;  ///< bit b: plane b is coded
  std::uint32_t kept = 0;     ///< elements in the planes
  std::uint32_t marks_bytes = 0;
  std::array<std::uint32_t, sizeof(std::uint64_t)> coded_bytes{};  ///< by plane; 0: not coded

  static constexpr unsigned zeros_flag = 1, rotated_flag = 2;
  /// The largest size of a header.
  static constexpr std::size_t bound = 2 + 10 * sizeof(std::uint32_t);

  [[nodiscard]] bool is_coded(std::size_t plane) const noexcept { return (coded_planes >> plane & 1) != 0; }
  [[nodiscard]] std::size_t bytes() const noexcept {
    const auto coded = static_cast<std::size_t>(std::popcount(coded_planes));
    return 2 + sizeof(std::uint32_t) * (coded + (without_zeros ? 2 : 0));
  }

  /// Writes `bytes()` bytes.
  void write(std::byte* out) const noexcept {
    *out++ = static_cast<std::byte>((without_zeros ? zeros_flag : 0) | (rotated ? rotated_flag : 0));
    *out++ = static_cast<std::byte>(coded_planes);
    const auto put = [&](std::uint32_t number) {
      std::memcpy(out, &number, sizeof number);
      out += sizeof number;
    };
    if (without_zeros) {
      put(kept);
      put(marks_bytes);
    }
    for (std::size_t b = 0; b < coded_bytes.size(); ++b)
      if (is_coded(b)) put(coded_bytes[b]);
  }

  /// Reads the header of a block of `count` elements of `width` bytes. False unless the block has exactly the size of `in`.
  [[nodiscard]] bool read(std::span<const std::byte> in, std::size_t count, std::size_t width) noexcept {
    if (in.size() < 2) return false;
    *this = {};
    const auto flags = std::to_integer<unsigned>(in[0]);
    if ((flags & ~(zeros_flag | rotated_flag)) != 0) return false;
    without_zeros = (flags & zeros_flag) != 0;
    rotated = (flags & rotated_flag) != 0;
    coded_planes = std::to_integer<unsigned>(in[1]);
    if (coded_planes >> width != 0 || in.size() < bytes()) return false;
    const std::byte* at = in.data() + 2;
    const auto take = [&](std::uint32_t& number) {
      std::memcpy(&number, at, sizeof number);
      at += sizeof number;
    };
    kept = static_cast<std::uint32_t>(count);
    if (without_zeros) {
      take(kept);
      take(marks_bytes);
    }
    if (kept > count) return false;
    std::uint64_t all = bytes() + std::uint64_t{marks_bytes};
    for (std::size_t b = 0; b < width; ++b) {
      if (is_coded(b)) take(coded_bytes[b]);
      all += is_coded(b) ? coded_bytes[b] : kept;
    }
    return all == in.size();
  }
};

}  // namespace cairn::inline v0_1::detail::lossless
