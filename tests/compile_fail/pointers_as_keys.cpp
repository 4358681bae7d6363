// SPDX-License-Identifier: MIT
// expect: cairn: pointers as keys
// expect: "keys: std::set<std::shared_ptr<int> ?>"
#include <memory>
#include <set>

#include "cairn/state/describe.hpp"

struct state {
  std::set<std::shared_ptr<int>> keys;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
