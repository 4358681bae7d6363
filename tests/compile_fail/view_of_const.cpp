// SPDX-License-Identifier: MIT
// expect: also of the elements of a span
// expect: "weights"
#include "cairn/state/describe.hpp"

struct state {
  cairn::tensor_view<const float> weights;
};

void check(state& s) { (void)cairn::refer(s); }  // here
