// SPDX-License-Identifier: MIT
#include "cairn/state/polymorphic.hpp"
