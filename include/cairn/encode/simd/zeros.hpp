// SPDX-License-Identifier: MIT
// Kernels that mark the elements that are not zero, pack these, and unpack them again.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cairn/encode/simd/targets.hpp"

namespace cairn::inline v0_1::detail::simd {

/// For elements of one size; an element is zero when all its bits are. Memory need not be aligned; inputs and outputs do not
/// overlap.
struct zero_kernels {
  /// Sets bit i of `bits`, the lowest of a byte first, where element i is not zero; the unused bits of the last byte are 0.
  /// Returns the number of set bits.
  std::size_t (*mark)(const std::byte* values, std::size_t count, std::byte* bits) noexcept;
  /// Copies the marked elements to `packed`, which has room for 16 bytes more. Returns their number.
  std::size_t (*pack)(const std::byte* values, const std::byte* bits, std::size_t count, std::byte* packed) noexcept;
  /// The reverse of `pack`: elements that are not marked become zero. May read 16 bytes beyond the packed elements. Returns the
  /// number of marked ones.
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

/// Those for this machine.
[[nodiscard]] const zeros_kernels& zeros() noexcept;
/// Those of every target that this machine can run; all give the same bits.
[[nodiscard]] kernel_tables<zeros_kernels> all_zeros() noexcept;

}  // namespace cairn::inline v0_1::detail::simd
