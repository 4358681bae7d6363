// SPDX-License-Identifier: MIT
// expect: a raw pointer does not say how much it points to
// expect: "weights: float ?\*"
#include "cairn/state/describe.hpp"

struct state {
  float* weights;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
