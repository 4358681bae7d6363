// SPDX-License-Identifier: MIT
// expect: would lose its own members
// expect: "random: counted"
#include <random>

#include "cairn/state/describe.hpp"

struct counted : std::mt19937 {
  int calls = 0;
};
struct state {
  counted random;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
