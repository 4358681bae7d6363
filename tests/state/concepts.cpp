// SPDX-License-Identifier: MIT
#include "cairn/state/concepts.hpp"
