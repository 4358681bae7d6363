// SPDX-License-Identifier: MIT
#include "cairn/chain/options.hpp"
