// SPDX-License-Identifier: MIT
// expect: would lose its own members
// expect: "best: marked"
#include <optional>

#include "cairn/state/describe.hpp"

struct marked : std::optional<int> {  // the mark is in the padding of the optional
  bool mark = false;
};
struct state {
  marked best;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
