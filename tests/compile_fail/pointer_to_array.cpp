// SPDX-License-Identifier: MIT
// expect: does not say how long it is: use std::vector
// expect: "weights: std::unique_ptr<float ?\[\]>"
#include <memory>

#include "cairn/state/describe.hpp"

struct state {
  std::unique_ptr<float[]> weights;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
