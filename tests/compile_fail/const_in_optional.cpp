// SPDX-License-Identifier: MIT
// expect: drop its const
// expect: "best: std::optional<const float>"
#include <optional>

#include "cairn/state/describe.hpp"

struct state {
  std::optional<const float> best;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
