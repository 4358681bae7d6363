// expect: has a reference member
// expect: state
#include "cairn/state/describe.hpp"

struct state {
  int& step;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
