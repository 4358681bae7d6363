// SPDX-License-Identifier: MIT
// expect: needs the closed list of types
// expect: "first: std::unique_ptr<layer>"
#include <memory>

#include "cairn/state/describe.hpp"

struct layer {
  virtual ~layer() = default;
};
struct state {
  std::unique_ptr<layer> first;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
