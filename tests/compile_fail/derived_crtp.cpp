// SPDX-License-Identifier: MIT
// expect: would lose its own members
// expect: "weights: named"
#include <cstddef>
#include <string>
#include <vector>

#include "cairn/state/describe.hpp"

template <class Derived>
struct list {
  using value_type = float;
  auto begin() { return values.begin(); }
  auto end() { return values.end(); }
  void resize(std::size_t to) { values.resize(to); }
  std::vector<float> values;
};
struct named : list<named> {
  std::string name;
};
struct state {
  named weights;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
