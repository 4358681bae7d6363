// SPDX-License-Identifier: MIT
#include "cairn/state/refuse_lines.hpp"
