// SPDX-License-Identifier: MIT
// expect: give cairn::const_state an object that lives longer
#include <vector>

#include "cairn/state/describe.hpp"

std::vector<float> weights();

void check() {
  const cairn::const_state all{{"weights", weights()}};  // here
}
