// SPDX-License-Identifier: MIT
// expect: such as enable_shared_from_this
// expect: "state"
#include <memory>

#include "cairn/state/describe.hpp"

struct state : std::enable_shared_from_this<state> {
  int step;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
