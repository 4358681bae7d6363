// expect: a const state can be saved but not loaded into
#include "cairn/checkpointer.hpp"

struct state {
  int step = 0;
};

void check(cairn::checkpointer& ckpt, const state& s) { (void)ckpt.restore(s); }
