// SPDX-License-Identifier: MIT
#include "cairn/state/describer.hpp"
