// SPDX-License-Identifier: MIT
// expect: use std::atomic
// expect: "member (1|step) of state"
#include "cairn/state/describe.hpp"

struct state {
  volatile int step;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
