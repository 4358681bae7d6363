// SPDX-License-Identifier: MIT
#include "cairn/store/shape_text.hpp"
