// SPDX-License-Identifier: MIT
// expect: is not made of cairn::renamed, added, since, removed and resizable
// expect: "state"
#include <string>
#include <vector>

#include "cairn/state/describe.hpp"

struct state {
  std::vector<float> weight;
  using cairn_changes = cairn::changes<cairn::names<"weight">>;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
