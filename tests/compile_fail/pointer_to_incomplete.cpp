// SPDX-License-Identifier: MIT
// expect: include its definition
// expect: "hidden: std::shared_ptr<.*implementation>"
#include <memory>

#include "cairn/state/describe.hpp"

struct implementation;
struct state {
  std::shared_ptr<implementation> hidden;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
