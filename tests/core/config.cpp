// SPDX-License-Identifier: MIT
#include "cairn/core/config.hpp"
