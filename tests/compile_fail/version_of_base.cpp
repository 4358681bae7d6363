// SPDX-License-Identifier: MIT
// expect: a class in cairn_bases has a cairn_version
// expect: "layers\.\*: dense"
#include <string>
#include <vector>

#include "cairn/state/describe.hpp"

struct layer {
  int id = 0;
  static constexpr unsigned cairn_version = 1;
};
struct dense : layer {
  std::vector<float> weight;
  using cairn_bases = cairn::bases<layer>;
  static auto cairn_fields() { return cairn::fields<&dense::weight>{}; }
};
struct state {
  std::vector<dense> layers;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
