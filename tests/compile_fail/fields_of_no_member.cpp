// SPDX-License-Identifier: MIT
// expect: lists only the addresses of members
// expect: "a: with_static"
// expect: "b: with_number"
#include "cairn/state/describe.hpp"

struct with_static {
  int a = 0;
  static inline int count = 0;
  static auto cairn_fields() { return cairn::fields<&with_static::a, &with_static::count>{}; }
};
struct with_number {
  int a = 0;
  static auto cairn_fields() { return cairn::fields<&with_number::a, nullptr, 3>{}; }
};
struct first {
  with_static a;
};
struct second {
  with_number b;
};

void check(const first& s) { (void)cairn::detail::describe(s); }   // here
void check(const second& s) { (void)cairn::detail::describe(s); }  // here
