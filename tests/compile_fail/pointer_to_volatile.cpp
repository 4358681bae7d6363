// SPDX-License-Identifier: MIT
// expect: an object behind a pointer to volatile cannot be saved: drop the volatile
// expect: "flag: std::unique_ptr<volatile int>"
#include <memory>

#include "cairn/state/describe.hpp"

struct state {
  std::unique_ptr<volatile int> flag;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
