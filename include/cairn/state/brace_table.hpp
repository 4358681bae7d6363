// SPDX-License-Identifier: MIT
// Whether an aggregate takes a number of empty braces. Each pair initializes one field, whatever its type is: also a whole C array.
#pragma once

#include <cstddef>

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

}  // namespace cairn::inline v0_1::detail
