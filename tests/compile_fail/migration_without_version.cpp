// SPDX-License-Identifier: MIT
// expect: cairn_migrate is a public member .void cairn_migrate
// expect: "state"
#include <string>
#include <vector>

#include "cairn/state/describe.hpp"

struct state {
  std::vector<float> weight;
  void cairn_migrate(cairn::stored_parts& old) { weight = old.get<std::vector<float>>("w"); }
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
