// SPDX-License-Identifier: MIT
// expect: a raw pointer does not say how much it points to
// expect: "all\..*exponential_moving_average_of_the_sq.*uared_gradient: float ?\*"
#include <vector>

#include "cairn/state/describe.hpp"

struct moments {
  float* exponential_moving_average_of_the_squared_gradient;
};
struct state {
  moments all;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
