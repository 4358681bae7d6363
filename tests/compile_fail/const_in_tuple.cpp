// SPDX-License-Identifier: MIT
// expect: a const member cannot be loaded into
// expect: "both\.1"
#include <tuple>

#include "cairn/state/describe.hpp"

struct state {
  std::tuple<int, const float> both{};
};

void check(state& s) { (void)cairn::refer(s); }  // here
