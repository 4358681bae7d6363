// SPDX-License-Identifier: MIT
// expect: Cairn needs RTTI
// lines: 10 the compiler stops at the error
// options: -fno-rtti
#include "cairn/cairn.hpp"  // here
