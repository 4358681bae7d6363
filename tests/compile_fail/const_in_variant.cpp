// SPDX-License-Identifier: MIT
// expect: drop its const
// expect: "best: std::variant<int, const float>"
#include <variant>

#include "cairn/state/describe.hpp"

struct state {
  std::variant<int, const float> best;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
