// SPDX-License-Identifier: MIT
#include "cairn/state/any_state.hpp"
