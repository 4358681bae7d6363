// SPDX-License-Identifier: MIT
#include "cairn/state/base.hpp"
