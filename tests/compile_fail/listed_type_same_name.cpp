// SPDX-License-Identifier: MIT
// expect: lists two classes of the same name
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
struct dense : layer {};
struct conv : layer {};
template <>
struct cairn::polymorphic<layer> : cairn::one_of<dense, cairn::named<"conv", conv, "dense">> {};
struct state {
  std::unique_ptr<layer> first;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
