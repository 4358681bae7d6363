// expect: use std::atomic
// expect: "state
#include "cairn/state/describe.hpp"

struct state {
  volatile int step;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
