// SPDX-License-Identifier: MIT
// expect: or has one twice
// expect: "layer"
#include <vector>

#include "cairn/state/describe.hpp"

struct layer {
  std::vector<float> weights;
  std::vector<float> cache;
  using cairn_skip = cairn::names<"cache", "cache">;
};

void check(layer& state) { (void)cairn::detail::describe(state); }  // here
