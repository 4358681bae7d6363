// SPDX-License-Identifier: MIT
// expect: a raw pointer does not say how much it points to
// expect: "best_so_far\.text_encoder\.layers\.\*\..*self_attention\.weights: float ?\*"
#include <vector>

#include "cairn/state/describe.hpp"

struct attention {
  float* weights;
};
struct layer {
  attention self_attention;
};
struct encoder {
  std::vector<layer> layers;
};
struct model {
  encoder text_encoder;
};
struct state {
  model best_so_far;  // clang prints no text of more than 36 characters as a whole
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
