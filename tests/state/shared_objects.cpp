// SPDX-License-Identifier: MIT
#include "cairn/state/shared_objects.hpp"
