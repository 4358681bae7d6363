// SPDX-License-Identifier: MIT
// expect: give their type a default constructor
// expect: "all: std::vector<number>"
#include <vector>

#include "cairn/state/describe.hpp"

struct number {
  explicit number(int n) : value(n) {}
  int value;
  static auto cairn_fields() { return cairn::fields<&number::value>{}; }
};
struct state {
  std::vector<number> all;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
