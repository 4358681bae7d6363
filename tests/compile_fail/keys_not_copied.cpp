// SPDX-License-Identifier: MIT
// expect: keys that cannot be copied
// expect: "keys: std::set<key>"
#include <memory>
#include <set>

#include "cairn/state/describe.hpp"

struct key {
  std::unique_ptr<int> number = std::make_unique<int>();
  bool operator<(const key& other) const { return *number < *other.number; }
};

struct state {
  std::set<key> keys;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
