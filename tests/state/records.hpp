// SPDX-License-Identifier: MIT
// Records that are hard to count and to read.
#pragma once

#include <memory>
#include <vector>

namespace tests {

struct recursive {
  int a = 0;
  std::vector<recursive> b;
  std::unique_ptr<recursive> c;
};
struct needs_argument {
  explicit needs_argument(int) {}
};
struct without_default {
  int a;
  needs_argument b;
  int c;
};

}  // namespace tests
