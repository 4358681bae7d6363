// SPDX-License-Identifier: MIT
// expect: lists these, too
// expect: "state"
#include "cairn/state/describe.hpp"

struct counted {
  int count;
};
struct state : counted {
  int step;
  using cairn_bases = cairn::bases<counted>;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
