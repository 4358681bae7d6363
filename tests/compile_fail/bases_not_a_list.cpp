// SPDX-License-Identifier: MIT
// expect: public line `using cairn_bases = cairn::bases<Base>;`
// expect: "dense"
#include "cairn/state/describe.hpp"

struct layer {
  int id = 0;
};
struct dense : layer {
  float weight = 0;
  using cairn_bases = layer;
  static auto cairn_fields() { return cairn::fields<&dense::weight>{}; }
};

void check(const dense& s) { (void)cairn::detail::describe(s); }  // here
