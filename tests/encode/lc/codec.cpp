// SPDX-License-Identifier: MIT
#include "cairn/encode/lc/codec.hpp"
