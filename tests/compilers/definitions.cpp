// SPDX-License-Identifier: MIT
// All definitions of Cairn, for the tests that compile them with flags of their own.
#include "cairn/implementation.hpp"  // IWYU pragma: keep
