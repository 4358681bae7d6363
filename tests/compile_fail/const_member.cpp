// SPDX-License-Identifier: MIT
// expect: a const member cannot be loaded into
// expect: "width"
#include "cairn/state/describe.hpp"

struct state {
  const int width = 3;
};

void check(state& s) { (void)cairn::refer(s); }  // here
