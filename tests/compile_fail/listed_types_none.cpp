// SPDX-License-Identifier: MIT
// expect: cairn::polymorphic<Base> lists no class
// expect: "first: std::unique_ptr<layer>"
#include <memory>
#include <random>
#include <span>
#include <unordered_set>

#include "cairn/state/describe.hpp"

struct layer {
  virtual ~layer() = default;
  virtual void run() {}
};
template <>
struct cairn::polymorphic<layer> : cairn::one_of<> {};
struct state {
  std::unique_ptr<layer> first;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
