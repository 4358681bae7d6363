// SPDX-License-Identifier: MIT
// expect: cairn_skip has a name that no member of this struct has
// expect: "layer"
#include <vector>

#include "cairn/state/describe.hpp"

struct layer {
  std::vector<float> weights;
  std::vector<float> cache;
  using cairn_skip = cairn::names<"cahce">;
};

void check(layer& state) { (void)cairn::detail::describe(state); }  // here
