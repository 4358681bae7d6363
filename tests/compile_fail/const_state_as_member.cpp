// SPDX-License-Identifier: MIT
// expect: only saved, nor can a cairn::const_state
// expect: "parts"
#include <vector>

#include "cairn/state/describe.hpp"

struct run {
  cairn::const_state parts;
  int step = 0;
};

void check(run& state) { (void)cairn::refer(state); }  // here
