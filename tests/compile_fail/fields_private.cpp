// SPDX-License-Identifier: MIT
// expect: cairn_fields is a public line `static auto cairn_fields\(\)
// expect: "counter"
#include "cairn/state/describe.hpp"

class counter {
  int hits_ = 0;
  static auto cairn_fields() { return cairn::fields<&counter::hits_>{}; }
};

void check(const counter& s) { (void)cairn::detail::describe(s); }  // here
