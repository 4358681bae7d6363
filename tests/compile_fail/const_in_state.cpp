// SPDX-License-Identifier: MIT
// expect: a const object cannot be loaded into: use cairn::const_state
#include <vector>

#include "cairn/state/describe.hpp"

void check(const std::vector<float>& weights) {
  const cairn::state all{{"weights", weights}};  // here
}
