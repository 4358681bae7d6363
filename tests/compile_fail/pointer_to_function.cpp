// SPDX-License-Identifier: MIT
// expect: a pointer to a function cannot be saved: save which function it is, for example by an enum or a name
// expect: "activation: float ?\(\*\)\(float\)"
// expect: "step: void ?\(state2::\*\)\(\)"
#include "cairn/state/describe.hpp"

struct state {
  float (*activation)(float) = nullptr;
};
struct state2 {
  void (state2::*step)() = nullptr;
};

void check(const state& s) { (void)cairn::detail::describe(s); }   // here
void check(const state2& s) { (void)cairn::detail::describe(s); }  // here
