// SPDX-License-Identifier: MIT
#include "cairn/encode/lc/options.hpp"
