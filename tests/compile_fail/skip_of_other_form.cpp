// SPDX-License-Identifier: MIT
// expect: public line `using cairn_skip = cairn::names
// expect: "layer"
#include "cairn/state/describe.hpp"

struct layer {
  int weight = 0;
  int cache = 0;
  using cairn_skip = int;
};

void check(const layer& s) { (void)cairn::detail::describe(s); }  // here
