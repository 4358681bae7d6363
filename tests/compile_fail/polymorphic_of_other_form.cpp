// SPDX-License-Identifier: MIT
// expect: cairn::one_of<A, B>
// expect: "head: std::unique_ptr<layer
#include <memory>

#include "cairn/state/describe.hpp"

struct layer {
  virtual ~layer() = default;
};
template <>
struct cairn::polymorphic<layer> {};
struct state {
  std::unique_ptr<layer> head;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
