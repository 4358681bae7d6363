// SPDX-License-Identifier: MIT
// References to all fields of an aggregate whose number of fields is known.
#pragma once

#include <cstddef>

namespace cairn::inline v0_1::detail {

inline constexpr std::size_t max_fields = 100;

/// What bind_fields returns if a field has no address: a bit-field, or, with g++, a member of a packed record.
struct no_address {};

struct take_references {
  template <class... Fields>
  static void take(Fields&...);
};

// One structured binding per number of fields: CAIRN_TEN_ROWS makes those for ten numbers of fields, `before` being the
// names of the tens before.
#define CAIRN_ROW(count, ...)                             \
  else if constexpr (Count == count) {                    \
    auto& [__VA_ARGS__] = record;                         \
    if constexpr (requires { Takes::take(__VA_ARGS__); }) \
      return action(__VA_ARGS__);                         \
    else                                                  \
      return no_address{};                                \
  }
#define CAIRN_NAMES(n) n##0, n##1, n##2, n##3, n##4, n##5, n##6, n##7, n##8, n##9
#define CAIRN_TEN_ROWS(tens, n, ...)                                                             \
  else if constexpr (Count <= tens + 10) {                                                       \
    if constexpr (Count == 0) {                                                                  \
      return action();                                                                           \
    }                                                                                            \
    CAIRN_ROW(tens + 1, __VA_ARGS__ n##0)                                                        \
    CAIRN_ROW(tens + 2, __VA_ARGS__ n##0, n##1)                                                  \
    CAIRN_ROW(tens + 3, __VA_ARGS__ n##0, n##1, n##2)                                            \
    CAIRN_ROW(tens + 4, __VA_ARGS__ n##0, n##1, n##2, n##3)                                      \
    CAIRN_ROW(tens + 5, __VA_ARGS__ n##0, n##1, n##2, n##3, n##4)                                \
    CAIRN_ROW(tens + 6, __VA_ARGS__ n##0, n##1, n##2, n##3, n##4, n##5)                          \
    CAIRN_ROW(tens + 7, __VA_ARGS__ n##0, n##1, n##2, n##3, n##4, n##5, n##6)                    \
    CAIRN_ROW(tens + 8, __VA_ARGS__ n##0, n##1, n##2, n##3, n##4, n##5, n##6, n##7)              \
    CAIRN_ROW(tens + 9, __VA_ARGS__ n##0, n##1, n##2, n##3, n##4, n##5, n##6, n##7, n##8)        \
    CAIRN_ROW(tens + 10, __VA_ARGS__ n##0, n##1, n##2, n##3, n##4, n##5, n##6, n##7, n##8, n##9) \
  }

/// Calls `action` with references to all `Count` fields of the record, and returns what it returns. At most max_fields.
/// no_address, and no call, if `Takes::take` cannot take the fields.
template <std::size_t Count, class Takes = take_references, class Record, class Action>
constexpr decltype(auto) bind_fields(Record& record, const Action& action) {
  if constexpr (Count > max_fields) {
    static_assert(Count <= max_fields);
  }
  CAIRN_TEN_ROWS(0, a)
  CAIRN_TEN_ROWS(10, b, CAIRN_NAMES(a), )
  CAIRN_TEN_ROWS(20, c, CAIRN_NAMES(a), CAIRN_NAMES(b), )
  CAIRN_TEN_ROWS(30, d, CAIRN_NAMES(a), CAIRN_NAMES(b), CAIRN_NAMES(c), )
  CAIRN_TEN_ROWS(40, e, CAIRN_NAMES(a), CAIRN_NAMES(b), CAIRN_NAMES(c), CAIRN_NAMES(d), )
  CAIRN_TEN_ROWS(50, f, CAIRN_NAMES(a), CAIRN_NAMES(b), CAIRN_NAMES(c), CAIRN_NAMES(d), CAIRN_NAMES(e), )
  CAIRN_TEN_ROWS(60, g, CAIRN_NAMES(a), CAIRN_NAMES(b), CAIRN_NAMES(c), CAIRN_NAMES(d), CAIRN_NAMES(e),
                 CAIRN_NAMES(f), )
  CAIRN_TEN_ROWS(70, h, CAIRN_NAMES(a), CAIRN_NAMES(b), CAIRN_NAMES(c), CAIRN_NAMES(d), CAIRN_NAMES(e), CAIRN_NAMES(f),
                 CAIRN_NAMES(g), )
  CAIRN_TEN_ROWS(80, i, CAIRN_NAMES(a), CAIRN_NAMES(b), CAIRN_NAMES(c), CAIRN_NAMES(d), CAIRN_NAMES(e), CAIRN_NAMES(f),
                 CAIRN_NAMES(g), CAIRN_NAMES(h), )
  CAIRN_TEN_ROWS(90, j, CAIRN_NAMES(a), CAIRN_NAMES(b), CAIRN_NAMES(c), CAIRN_NAMES(d), CAIRN_NAMES(e), CAIRN_NAMES(f),
                 CAIRN_NAMES(g), CAIRN_NAMES(h), CAIRN_NAMES(i), )
}

#undef CAIRN_TEN_ROWS
#undef CAIRN_NAMES
#undef CAIRN_ROW

}  // namespace cairn::inline v0_1::detail
