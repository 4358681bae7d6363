// SPDX-License-Identifier: MIT
// expect: a const member cannot be loaded into
// expect: "width"
#include "cairn/state/describe.hpp"

class state {
 public:
  static auto cairn_fields() { return cairn::fields<&state::width_>{}; }

 private:
  const int width_ = 3;
};

void check(state& s) { (void)cairn::refer(s); }  // here
