// SPDX-License-Identifier: MIT
// expect: belong to the class that contains them
// expect: "layer"
#include "cairn/state/describe.hpp"

struct tag {
  using cairn_skip = cairn::names<"cache">;
};
struct layer : tag {
  int weight = 0;
  int cache = 0;
};

void check(const layer& s) { (void)cairn::detail::describe(s); }  // here
