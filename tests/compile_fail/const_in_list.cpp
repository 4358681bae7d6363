// SPDX-License-Identifier: MIT
// expect: drop its const
// expect: "rows: std::(__cxx11::)?list<row>"
#include <list>

#include "cairn/state/describe.hpp"

struct row {
  const int width = 3;
};
struct state {
  std::list<row> rows;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
