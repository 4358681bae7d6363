// SPDX-License-Identifier: MIT
// expect: a raw pointer does not say how much it points to
// expect: "int ?\*"
#include <string>
#include <vector>

#include "cairn/state/describe.hpp"

struct state {
  int first = 0;
  static constexpr unsigned cairn_version = 1;
  using cairn_changes = cairn::since<1, "first">;
  void cairn_migrate(cairn::stored_parts& old) { first = *old.get<int*>("all"); }  // here
};

void check(state& s) { (void)cairn::detail::describe(s); }
