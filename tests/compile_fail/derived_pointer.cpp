// SPDX-License-Identifier: MIT
// expect: would lose its own members
// expect: "layer: named"
#include <memory>
#include <string>

#include "cairn/state/describe.hpp"

struct named : std::shared_ptr<int> {
  std::string name;
};
struct state {
  named layer;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
