// SPDX-License-Identifier: MIT
// Checks for programs that cannot use Catch2, such as those that are compiled with other flags.
#pragma once

#include <iostream>

#include "standard.hpp"

namespace tests {

inline int failures = 0;  ///< checks that were not so

inline void check(bool is_right, const char* what) {
  if (is_right) return;
  std::cerr << "not so: " << what << '\n';
  ++failures;
}

}  // namespace tests
