// SPDX-License-Identifier: MIT
// expect: is a public line `static constexpr unsigned cairn_version
// expect: "layer"
#include "cairn/state/describe.hpp"

class layer {
  int weight_ = 0;
  static constexpr unsigned cairn_version = 1;

 public:
  static auto cairn_fields() { return cairn::fields<&layer::weight_>{}; }
};

void check(const layer& s) { (void)cairn::detail::describe(s); }  // here
