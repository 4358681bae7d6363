// SPDX-License-Identifier: MIT
#include "cairn/state/walker.hpp"
