// SPDX-License-Identifier: MIT
#include "cairn/run/series.hpp"
