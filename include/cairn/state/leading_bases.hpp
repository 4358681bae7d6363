// SPDX-License-Identifier: MIT
// Tells base classes of an aggregate from members of the same type.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "cairn/state/member_name.hpp"

namespace cairn::inline v0_1::detail {

/// The largest number of empty braces that is tried.
inline constexpr std::size_t most_braces = 101;

/// `take<T, X...>`: whether `T{{}, {}, ..., X{}...}` is valid, with `Count` empty braces.
template <std::size_t Count>
struct braces;

// clang-format off
#define CAIRN_ROW(count, ...)                                            \
  template <>                                                            \
  struct braces<count> {                                                 \
    template <class T, class... X>                                       \
    static constexpr bool take = requires { T{__VA_ARGS__ X{}...}; };    \
  };
#define CAIRN_TEN {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
#define CAIRN_TEN_ROWS(tens, ...)                                               \
  CAIRN_ROW(tens + 0, __VA_ARGS__)                                              \
  CAIRN_ROW(tens + 1, __VA_ARGS__ {},)                                          \
  CAIRN_ROW(tens + 2, __VA_ARGS__ {}, {},)                                      \
  CAIRN_ROW(tens + 3, __VA_ARGS__ {}, {}, {},)                                  \
  CAIRN_ROW(tens + 4, __VA_ARGS__ {}, {}, {}, {},)                              \
  CAIRN_ROW(tens + 5, __VA_ARGS__ {}, {}, {}, {}, {},)                          \
  CAIRN_ROW(tens + 6, __VA_ARGS__ {}, {}, {}, {}, {}, {},)                      \
  CAIRN_ROW(tens + 7, __VA_ARGS__ {}, {}, {}, {}, {}, {}, {},)                  \
  CAIRN_ROW(tens + 8, __VA_ARGS__ {}, {}, {}, {}, {}, {}, {}, {},)              \
  CAIRN_ROW(tens + 9, __VA_ARGS__ {}, {}, {}, {}, {}, {}, {}, {}, {},)

CAIRN_TEN_ROWS(0, )
CAIRN_TEN_ROWS(10, CAIRN_TEN)
CAIRN_TEN_ROWS(20, CAIRN_TEN CAIRN_TEN)
CAIRN_TEN_ROWS(30, CAIRN_TEN CAIRN_TEN CAIRN_TEN)
CAIRN_TEN_ROWS(40, CAIRN_TEN CAIRN_TEN CAIRN_TEN CAIRN_TEN)
CAIRN_TEN_ROWS(50, CAIRN_TEN CAIRN_TEN CAIRN_TEN CAIRN_TEN CAIRN_TEN)
CAIRN_TEN_ROWS(60, CAIRN_TEN CAIRN_TEN CAIRN_TEN CAIRN_TEN CAIRN_TEN CAIRN_TEN)
CAIRN_TEN_ROWS(70, CAIRN_TEN CAIRN_TEN CAIRN_TEN CAIRN_TEN CAIRN_TEN CAIRN_TEN CAIRN_TEN)
CAIRN_TEN_ROWS(80, CAIRN_TEN CAIRN_TEN CAIRN_TEN CAIRN_TEN CAIRN_TEN CAIRN_TEN CAIRN_TEN CAIRN_TEN)
CAIRN_TEN_ROWS(90, CAIRN_TEN CAIRN_TEN CAIRN_TEN CAIRN_TEN CAIRN_TEN CAIRN_TEN CAIRN_TEN CAIRN_TEN CAIRN_TEN)
CAIRN_ROW(100, CAIRN_TEN CAIRN_TEN CAIRN_TEN CAIRN_TEN CAIRN_TEN CAIRN_TEN CAIRN_TEN CAIRN_TEN CAIRN_TEN CAIRN_TEN)
CAIRN_ROW(101, CAIRN_TEN CAIRN_TEN CAIRN_TEN CAIRN_TEN CAIRN_TEN CAIRN_TEN CAIRN_TEN CAIRN_TEN CAIRN_TEN CAIRN_TEN {},)

#undef CAIRN_TEN_ROWS
#undef CAIRN_TEN
#undef CAIRN_ROW
// clang-format on

inline constexpr unsigned hash_bits = 24;

template <class T>
consteval unsigned name_hash() {
  unsigned hash = 1;
  for (const char c : type_name_view<T>()) hash = (hash * 31 + static_cast<unsigned char>(c)) % 16777213;
  return hash;
}

template <class Derived, unsigned Bit>
struct any_base_with_bit {
  template <class T>
  requires(std::is_base_of_v<T, Derived> && (name_hash<T>() >> Bit) % 2 == 1)
  operator T() const noexcept;
};

/// The hash of the name of the type of field I, a base class of T.
template <class T, std::size_t I>
consteval unsigned hash_at() {
  return []<unsigned... Bit>(std::integer_sequence<unsigned, Bit...>) {
    return (0U + ... + (braces<I>::template take<T, any_base_with_bit<T, Bit>> ? 1U << Bit : 0U));
  }(std::make_integer_sequence<unsigned, hash_bits>{});
}

/// How many of the first fields are base classes, if `Count` have the type of one. A member may have the type of a base
/// class; no class has the same base class twice.
template <class T, std::size_t Count>
consteval std::size_t bases_among() {
  if constexpr (Count > 1) {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      const unsigned hashes[] = {hash_at<T, I>()...};
      for (std::size_t i = 1; i < Count; ++i)
        for (std::size_t j = 0; j < i; ++j)
          if (hashes[i] == hashes[j]) return i;
      return Count;
    }(std::make_index_sequence<Count>{});
  } else {
    return Count;
  }
}

}  // namespace cairn::inline v0_1::detail
