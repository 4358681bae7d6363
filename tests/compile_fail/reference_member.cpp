// SPDX-License-Identifier: MIT
// expect: a reference member cannot be made by a load
// expect: "member 1 of state"
#include "cairn/state/describe.hpp"

struct state {
  int& step;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
