// SPDX-License-Identifier: MIT
// expect: Cairn needs exceptions
// options: -fno-exceptions -Wfatal-errors
#include "cairn/cairn.hpp"  // here
