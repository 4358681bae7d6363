// SPDX-License-Identifier: MIT
// expect: Cairn needs exceptions
// lines: 10 the compiler stops at the error
// options: -fno-exceptions
#include "cairn/cairn.hpp"  // here
