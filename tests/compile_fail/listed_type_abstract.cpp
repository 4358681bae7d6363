// SPDX-License-Identifier: MIT
// expect: lists an abstract class, of which no object can exist
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
struct activation : layer {
  virtual float at(float x) = 0;
};
template <>
struct cairn::polymorphic<layer> : cairn::one_of<activation> {};
struct state {
  std::unique_ptr<layer> first;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
