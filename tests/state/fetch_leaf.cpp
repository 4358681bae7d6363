// SPDX-License-Identifier: MIT
#include "cairn/state/fetch_leaf.hpp"
