// SPDX-License-Identifier: MIT
// expect: also of the elements of a span
// expect: "weights\.\*"
#include <span>

#include "cairn/state/describe.hpp"

struct state {
  std::span<const float> weights;
};

void check(state& s) { (void)cairn::refer(s); }  // here
