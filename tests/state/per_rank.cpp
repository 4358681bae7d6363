// SPDX-License-Identifier: MIT
#include "cairn/state/per_rank.hpp"
