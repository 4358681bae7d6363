// SPDX-License-Identifier: MIT
// expect: __metadata__ is
// expect: "member __metadata__ of state"
#include "cairn/state/describe.hpp"

struct state {
  int __metadata__ = 0;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
