// SPDX-License-Identifier: MIT
// expect: a pointer to an incomplete type: include its definition
// expect: "hidden: std::shared_ptr<.*implementation>"
#include <memory>
#include <random>
#include <span>
#include <unordered_set>

#include "cairn/state/describe.hpp"

struct implementation;
struct state {
  std::shared_ptr<implementation> hidden;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
