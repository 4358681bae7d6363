// SPDX-License-Identifier: MIT
// expect: ignoring return value
#include "cairn/checkpointer.hpp"

struct state {
  int step = 0;
};

void train(cairn::checkpointer& checkpoints, const state& s) { checkpoints.step(s, {.step = 1}); }  // error
