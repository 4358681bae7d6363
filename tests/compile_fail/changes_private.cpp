// SPDX-License-Identifier: MIT
// expect: public line `using cairn_changes = cairn::changes
// expect: "layer"
#include "cairn/state/describe.hpp"

class layer {
  int weight_ = 0;
  using cairn_changes = cairn::changes<cairn::renamed<"weight", "w">>;

 public:
  static auto cairn_fields() { return cairn::fields<&layer::weight_>{}; }
};

void check(const layer& s) { (void)cairn::detail::describe(s); }  // here
