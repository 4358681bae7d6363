// SPDX-License-Identifier: MIT
// expect: removes one that it has
// expect: "state"
#include <string>
#include <vector>

#include "cairn/state/describe.hpp"

struct state {
  std::vector<float> weight;
  using cairn_changes = cairn::removed<"weight">;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
