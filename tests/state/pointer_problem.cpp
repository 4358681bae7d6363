// SPDX-License-Identifier: MIT
#include "cairn/state/pointer_problem.hpp"
