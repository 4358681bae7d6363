// SPDX-License-Identifier: MIT
#include "cairn/state/leading_bases.hpp"
