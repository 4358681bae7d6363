// SPDX-License-Identifier: MIT
// expect: a const member cannot be loaded into
// expect: "both\.\*"
#include <array>

#include "cairn/state/describe.hpp"

struct state {
  std::array<const float, 2> both{};
};

void check(state& s) { (void)cairn::refer(s); }  // here
