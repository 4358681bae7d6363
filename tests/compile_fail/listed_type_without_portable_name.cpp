// SPDX-License-Identifier: MIT
// expect: C\+\+ name differs from compiler to compiler: give it one
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
template <cairn::detail::name_text Name>
struct called : layer {};
template <>
struct cairn::polymorphic<layer> : cairn::one_of<called<"x">> {};
struct state {
  std::unique_ptr<layer> first;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
