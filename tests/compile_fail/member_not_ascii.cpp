// SPDX-License-Identifier: MIT
// expect: a raw pointer does not say how much it points to
// expect: "gr\?\?e: float ?\*"
#include "cairn/state/describe.hpp"

struct state {
  float* größe;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
