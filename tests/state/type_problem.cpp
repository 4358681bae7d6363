// SPDX-License-Identifier: MIT
#include "cairn/state/type_problem.hpp"
