// SPDX-License-Identifier: MIT
// expect: would lose its own members
// expect: "weights: named"
#include <string>
#include <vector>

#include "cairn/state/describe.hpp"

struct named : std::vector<float> {
  std::string name;
};
struct state {
  named weights;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
