// SPDX-License-Identifier: MIT
// expect: a raw pointer does not say how much it points to
// expect: "const model ?\*"
#include <string>

#include "cairn/save.hpp"

struct model {
  int step = 0;
};

void check(const std::string& path, const model* state) { (void)cairn::save(path, state); }  // here
