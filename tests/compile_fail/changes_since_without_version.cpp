// SPDX-License-Identifier: MIT
// expect: is for a class with a cairn_version of at least N
// expect: "state"
#include <string>
#include <vector>

#include "cairn/state/describe.hpp"

struct state {
  std::vector<float> weight;
  using cairn_changes = cairn::since<1, "weight">;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
