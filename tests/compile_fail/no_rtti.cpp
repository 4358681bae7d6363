// SPDX-License-Identifier: MIT
// expect: Cairn needs RTTI
// options: -fno-rtti -Wfatal-errors
#include "cairn/cairn.hpp"  // here
