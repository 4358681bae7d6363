// SPDX-License-Identifier: MIT
// Kernels that split elements into byte planes, and merge them again.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cairn/encode/simd/targets.hpp"

namespace cairn::inline v0_1::detail::simd {

/// For elements of one size. Memory need not be aligned; inputs and outputs do not overlap.
struct plane_kernels {
  /// Copies byte `b` of all `count` elements to `planes[b]`. With `rotate`, elements are first rotated left by one bit: the sign
  /// of a floating-point number becomes the lowest bit, and the exponent begins at the highest one. Elements of one byte are not
  /// rotated.
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

/// Those for this machine.
[[nodiscard]] const planes_kernels& planes() noexcept;
/// Those of every target that this machine can run; all give the same bits.
[[nodiscard]] kernel_tables<planes_kernels> all_planes() noexcept;

}  // namespace cairn::inline v0_1::detail::simd
