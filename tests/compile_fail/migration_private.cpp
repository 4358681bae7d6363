// SPDX-License-Identifier: MIT
// expect: is a public member `void cairn_migrate
// expect: "layer"
#include "cairn/state/describe.hpp"

class layer {
  int weight_ = 0;
  void cairn_migrate(cairn::stored_parts&) { weight_ = 1; }

 public:
  static constexpr unsigned cairn_version = 1;
  static auto cairn_fields() { return cairn::fields<&layer::weight_>{}; }
};

void check(const layer& s) { (void)cairn::detail::describe(s); }  // here
