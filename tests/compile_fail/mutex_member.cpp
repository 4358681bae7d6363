// SPDX-License-Identifier: MIT
// expect: list the other members
// expect: "guard: std::mutex"
#include <mutex>

#include "cairn/state/describe.hpp"

struct state {
  int step = 0;
  std::mutex guard;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
