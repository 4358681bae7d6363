// SPDX-License-Identifier: MIT
// expect: Cairn needs C\+\+20
// options: -std=c++17 -Wfatal-errors
#include "cairn/cairn.hpp"  // here
