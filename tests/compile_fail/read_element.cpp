// SPDX-License-Identifier: MIT
// expect: read<T> takes the type of one element
#include <string>
#include <vector>

#include "cairn/inspect.hpp"

void check(const cairn::checkpoint& opened) {
  (void)opened.read<std::string>("w");         // error
  (void)opened.read<std::vector<float>>("w");  // error
  (void)opened.read<const float>("w");         // error
  (void)opened.read<long double>("w");         // error
  (void)opened.read<bool>("w");                // error
}
