// SPDX-License-Identifier: MIT
// expect: a union does not say which member is alive
// expect: "n: number"
#include "cairn/state/describe.hpp"

union number {
  int i;
  float f;
};
struct state {
  number n;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
