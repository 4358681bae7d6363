// SPDX-License-Identifier: MIT
#include "cairn/store/indexed_leaves.hpp"  // IWYU pragma: keep: tests/store/index.cpp tests it
