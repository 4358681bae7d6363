// SPDX-License-Identifier: MIT
// expect: leaves out the members that are not state
// expect: "layer"
#include "cairn/state/describe.hpp"

struct layer {
  int weight = 0;
  int cache = 0;
  using cairn_skip = cairn::names<"cache">;
  static auto cairn_fields() { return cairn::fields<&layer::weight, &layer::cache>{}; }
};

void check(const layer& s) { (void)cairn::detail::describe(s); }  // here
