// SPDX-License-Identifier: MIT
// expect: inherits the field list of a base class
// expect: "first: dense"
#include <memory>
#include <vector>

#include "cairn/state/describe.hpp"

struct layer {
  virtual ~layer() = default;
  static auto cairn_fields() { return cairn::fields<>{}; }
};
struct dense : layer {
  float weight = 0;
};
template <>
struct cairn::polymorphic<layer> : cairn::one_of<dense> {};
struct state {
  std::unique_ptr<layer> first;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
