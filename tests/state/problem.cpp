// SPDX-License-Identifier: MIT
#include "cairn/state/problem.hpp"
