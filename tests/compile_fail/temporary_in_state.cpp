// SPDX-License-Identifier: MIT
// expect: a temporary object is gone when the state is used
#include <vector>

#include "cairn/state/describe.hpp"

std::vector<float> weights();

void check() {
  const cairn::state all{{"weights", weights()}};  // here
}
