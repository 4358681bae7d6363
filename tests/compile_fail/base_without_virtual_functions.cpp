// SPDX-License-Identifier: MIT
// expect: a base class without virtual functions does not tell the type of an object
// expect: "first: std::unique_ptr<layer>"
#include <memory>
#include <random>
#include <span>
#include <unordered_set>

#include "cairn/state/describe.hpp"

struct layer {};
struct dense : layer {};
template <>
struct cairn::polymorphic<layer> : cairn::one_of<layer, dense> {};
struct state {
  std::unique_ptr<layer> first;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
