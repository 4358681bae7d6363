// SPDX-License-Identifier: MIT
// The element types of the safetensors format, their names and sizes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "cairn/core/config.hpp"

namespace cairn::inline v0_1 {

/// The type of a leaf's elements, little-endian in memory and on disk.
enum class dtype : std::uint8_t {
  boolean,
  u8,
  i8,
  f8_e4m3,
  f8_e5m2,
  u16,
  i16,
  f16,
  bf16,
  u32,
  i32,
  f32,
  u64,
  i64,
  f64
};

inline constexpr std::size_t dtype_count = 15;

namespace detail {
struct dtype_traits {
  std::string_view name;
  std::uint8_t bytes;
  char kind;     // 'b' boolean, 'u' unsigned, 'i' signed, 'f' floating
  int digits;    // bits of precision; of an integer without the sign
  int exponent;  // largest binary exponent; 0 for integers
};
inline constexpr std::array<dtype_traits, dtype_count> dtype_table{{{"BOOL", 1, 'b', 1, 0},
                                                                    {"U8", 1, 'u', 8, 0},
                                                                    {"I8", 1, 'i', 7, 0},
                                                                    {"F8_E4M3", 1, 'f', 4, 9},
                                                                    {"F8_E5M2", 1, 'f', 3, 16},
                                                                    {"U16", 2, 'u', 16, 0},
                                                                    {"I16", 2, 'i', 15, 0},
                                                                    {"F16", 2, 'f', 11, 16},
                                                                    {"BF16", 2, 'f', 8, 128},
                                                                    {"U32", 4, 'u', 32, 0},
                                                                    {"I32", 4, 'i', 31, 0},
                                                                    {"F32", 4, 'f', 24, 128},
                                                                    {"U64", 8, 'u', 64, 0},
                                                                    {"I64", 8, 'i', 63, 0},
                                                                    {"F64", 8, 'f', 53, 1024}}};
}  // namespace detail

/// The name in a safetensors header: "F32", "BF16", ...
[[nodiscard]] constexpr std::string_view name(dtype type) noexcept {
  return detail::dtype_table[static_cast<std::size_t>(type)].name;
}

/// Bytes per element.
[[nodiscard]] constexpr std::size_t size_of(dtype type) noexcept {
  return detail::dtype_table[static_cast<std::size_t>(type)].bytes;
}

[[nodiscard]] constexpr bool is_floating(dtype type) noexcept {
  return detail::dtype_table[static_cast<std::size_t>(type)].kind == 'f';
}

[[nodiscard]] constexpr bool is_signed_integer(dtype type) noexcept {
  return detail::dtype_table[static_cast<std::size_t>(type)].kind == 'i';
}

/// The dtype of a safetensors name; nothing for a name that this version does not know.
[[nodiscard]] constexpr std::optional<dtype> parse_dtype(std::string_view text) noexcept {
  for (std::size_t i = 0; i < dtype_count; ++i)
    if (detail::dtype_table[i].name == text) return static_cast<dtype>(i);
  return std::nullopt;
}

}  // namespace cairn::inline v0_1
