// SPDX-License-Identifier: MIT
// expect: a reference member cannot be made by a load
// expect: "state"
#include "cairn/state/describe.hpp"

struct state {
  int step;
  const int& start;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
