// SPDX-License-Identifier: MIT
// expect: public line `using cairn_bases = cairn::bases<Base>;`
// expect: "hidden: dense"
#include "cairn/state/describe.hpp"

struct layer {
  int id = 0;
};
class dense : public layer {
  using cairn_bases = cairn::bases<layer>;
  float weight_ = 0;

 public:
  static auto cairn_fields() { return cairn::fields<&dense::weight_>{}; }
};
struct state {
  dense hidden;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
