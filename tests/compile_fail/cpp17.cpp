// SPDX-License-Identifier: MIT
// expect: Cairn needs C\+\+20
// lines: 10 the compiler stops at the error
// options: -std=c++17
#include "cairn/cairn.hpp"  // here
