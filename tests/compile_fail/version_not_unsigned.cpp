// SPDX-License-Identifier: MIT
// expect: a version is a public line
// expect: "state"
#include <string>
#include <vector>

#include "cairn/state/describe.hpp"

struct state {
  int id = 0;
  static constexpr int cairn_version = 1;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
