// SPDX-License-Identifier: MIT
// expect: does not say what it points to
// expect: "handle: std::shared_ptr<void>"
#include <memory>

#include "cairn/state/describe.hpp"

struct state {
  std::shared_ptr<void> handle;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
