// SPDX-License-Identifier: MIT
#include "cairn/state/operations.hpp"
