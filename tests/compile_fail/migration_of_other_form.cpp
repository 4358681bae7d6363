// SPDX-License-Identifier: MIT
// expect: cairn_migrate is a public member .void cairn_migrate
// expect: "layers\.\*: layer"
#include <string>
#include <vector>

#include "cairn/state/describe.hpp"

struct layer {
  std::vector<float> weight;
  static constexpr unsigned cairn_version = 1;
  void cairn_migrate(const std::string& old);
};
struct state {
  std::vector<layer> layers;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
