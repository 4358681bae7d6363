// SPDX-License-Identifier: MIT
// expect: name direct, public and unambiguous base classes
// expect: "state"
#include "cairn/state/describe.hpp"

struct counted {
  int count = 0;
};
class state : counted {
 public:
  int step = 0;
  using cairn_bases = cairn::bases<counted>;
  static auto cairn_fields() { return cairn::fields<&state::step>{}; }
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
