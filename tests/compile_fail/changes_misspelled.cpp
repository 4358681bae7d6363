// SPDX-License-Identifier: MIT
// expect: cairn_changes names a member that the class does not have
// expect: "layers\.\*: layer"
#include <string>
#include <vector>

#include "cairn/state/describe.hpp"

struct layer {
  std::vector<float> weight;
  using cairn_changes = cairn::renamed<"wieght", "w">;
};
struct state {
  std::vector<layer> layers;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
