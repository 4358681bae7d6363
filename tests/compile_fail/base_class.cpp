// SPDX-License-Identifier: MIT
// expect: using cairn_bases = cairn::bases<Base>
// expect: "state"
#include "cairn/state/describe.hpp"

struct counted {
  int count;
};
struct state : counted {
  int step;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
