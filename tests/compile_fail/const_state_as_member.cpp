// expect: cairn::const_state cannot be loaded into
#include <vector>

#include "cairn/state/describe.hpp"

struct run {
  cairn::const_state parts;
  int step = 0;
};

void check(run& state) { (void)cairn::detail::describe(state); }  // here
