// SPDX-License-Identifier: MIT
// expect: a bit-field or a packed member has no address
// expect: "member (2|step) of state"
#include "cairn/state/describe.hpp"

struct __attribute__((packed)) state {
  char kind;
  int step;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
