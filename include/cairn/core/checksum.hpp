// SPDX-License-Identifier: MIT
// XXH3-64 checksums and their text form of 16 lower-case hexadecimal digits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

// Latency bounds the checksum of uncached memory: a longer prefetch distance than xxHash's default is a fifth faster.
#ifndef XXH_PREFETCH_DIST
#define XXH_PREFETCH_DIST 2048
#endif
#ifndef XXH_INLINE_ALL
#define XXH_INLINE_ALL
#endif
// In xxHash g++ before 13 suspects its AVX-512 functions of reading uninitialized variables (GCC bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <xxhash.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

// Defined by CMake where xxHash's library is linked and has the functions of xxh_x86dispatch.h, which use AVX2 or
// AVX-512 if the processor has them.
#ifdef CAIRN_XXHASH_DISPATCH
extern "C" {
XXH64_hash_t XXH3_64bits_dispatch(const void* input, std::size_t bytes);
XXH_errorcode XXH3_64bits_update_dispatch(XXH3_state_t* state, const void* input, std::size_t bytes);
}
#endif

namespace cairn::inline v0_1::detail {

inline constexpr std::size_t checksum_digits = 16;

/// XXH3-64, seed 0, of the bytes.
[[nodiscard]] inline std::uint64_t checksum(std::span<const std::byte> bytes) noexcept {
#ifdef CAIRN_XXHASH_DISPATCH
  return XXH3_64bits_dispatch(bytes.data(), bytes.size());
#else
  return XXH3_64bits(bytes.data(), bytes.size());
#endif
}

/// The same checksum for bytes in several buffers.
class running_checksum {
 public:
  running_checksum() noexcept { XXH3_64bits_reset(&state_); }
  void add(std::span<const std::byte> bytes) noexcept {
#ifdef CAIRN_XXHASH_DISPATCH
    XXH3_64bits_update_dispatch(&state_, bytes.data(), bytes.size());
#else
    XXH3_64bits_update(&state_, bytes.data(), bytes.size());
#endif
  }
  [[nodiscard]] std::uint64_t value() const noexcept { return XXH3_64bits_digest(&state_); }

 private:
  XXH3_state_t state_;
};

/// Appends the 16 digits, the most significant first.
inline void append_hex(std::string& text, std::uint64_t value) {
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[(value >> shift) & 15U];
}

[[nodiscard]] inline std::string to_hex(std::uint64_t value) {
  std::string text;
  append_hex(text, value);
  return text;
}

/// The value of exactly 16 lower-case digits.
[[nodiscard]] inline std::optional<std::uint64_t> parse_hex(std::string_view text) noexcept {
  if (text.size() != checksum_digits) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : text) {
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) return std::nullopt;
    value = value << 4U | static_cast<std::uint64_t>(digit);
  }
  return value;
}

}  // namespace cairn::inline v0_1::detail
