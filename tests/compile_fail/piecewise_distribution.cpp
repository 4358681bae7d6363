// SPDX-License-Identifier: MIT
// expect: cannot be read back exactly
// expect: "draw: std::.*piecewise_linear_distribution<>"
#include <random>

#include "cairn/state/describe.hpp"

struct state {
  std::piecewise_linear_distribution<> draw;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
