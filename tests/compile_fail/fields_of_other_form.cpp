// SPDX-License-Identifier: MIT
// expect: cairn_fields is a public line `static auto cairn_fields\(\)
// expect: "a: not_static"
// expect: "b: not_a_list"
// expect: "c: a_type"
#include "cairn/state/describe.hpp"

struct not_static {
  int value = 0;
  auto cairn_fields() const { return cairn::fields<&not_static::value>{}; }
};
struct not_a_list {
  int value = 0;
  static int cairn_fields() { return 0; }
};
struct a_type {
  int value = 0;
  using cairn_fields = cairn::fields<&a_type::value>;
};
struct first {
  not_static a;
};
struct second {
  not_a_list b;
};
struct third {
  a_type c;
};

void check(const first& s) { (void)cairn::detail::describe(s); }   // here
void check(const second& s) { (void)cairn::detail::describe(s); }  // here
void check(const third& s) { (void)cairn::detail::describe(s); }   // here
