// SPDX-License-Identifier: MIT
// expect: a union does not say which member is alive
// expect: "member 2 of state"
#include "cairn/state/describe.hpp"

struct state {
  int kind;
  union {
    int i;
    float f;
  };
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
