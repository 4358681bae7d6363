// SPDX-License-Identifier: MIT
// expect: list the other members
// expect: "layers\.\*\.activation: std::.*function<.*float ?\(float\)>"
#include <functional>
#include <vector>

#include "cairn/state/describe.hpp"

struct layer {
  std::function<float(float)> activation;
};
struct state {
  std::vector<layer> layers;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
