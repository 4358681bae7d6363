// SPDX-License-Identifier: MIT
// expect: a bit-field or a packed member has no address
// expect: "member 2 of state"
#include "cairn/state/describe.hpp"

struct state {
  int step;
  unsigned done : 1;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
