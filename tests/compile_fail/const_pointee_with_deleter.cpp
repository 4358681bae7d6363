// SPDX-License-Identifier: MIT
// expect: must not make one for a deleter of yours
// expect: "first: std::unique_ptr<const int,
#include <memory>
#include <random>
#include <span>
#include <unordered_set>

#include "cairn/state/describe.hpp"

struct state {
  std::unique_ptr<const int, void (*)(const int*)> first;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
