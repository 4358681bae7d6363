// SPDX-License-Identifier: MIT
#include "cairn/core/structure.hpp"
