// SPDX-License-Identifier: MIT
#include "cairn/core/encoding.hpp"
