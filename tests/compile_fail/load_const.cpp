// expect: a const state can be saved but not loaded into
#include "cairn/load.hpp"

struct state {
  int step = 0;
};

void check(const state& s) { (void)cairn::load("here", s); }
