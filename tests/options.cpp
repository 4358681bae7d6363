// SPDX-License-Identifier: MIT
#include "cairn/options.hpp"
