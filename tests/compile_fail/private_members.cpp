// SPDX-License-Identifier: MIT
// expect: give it a public line
// expect: "state"
#include "cairn/state/describe.hpp"

class state {
 public:
  state() = default;

 private:
  int hidden_ = 0;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
