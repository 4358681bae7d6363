// SPDX-License-Identifier: MIT
// expect: their operator= does not allow
// expect: "all: std::__cxx11::list<node|"all: std::list<node
#include <list>

#include "cairn/state/describe.hpp"

struct node {
  node() = default;
  node(const node&) = default;
  node& operator=(const node&) = delete;
  int a = 0;
  static auto cairn_fields() { return cairn::fields<&node::a>{}; }
};
struct state {
  std::list<node> all;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
