// SPDX-License-Identifier: MIT
// expect: lists a type that is not derived from Base, or not publicly, or more than once
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
struct dense {};
template <>
struct cairn::polymorphic<layer> : cairn::one_of<dense> {};
struct state {
  std::unique_ptr<layer> first;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
