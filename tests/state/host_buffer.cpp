// SPDX-License-Identifier: MIT
#include "cairn/state/host_buffer.hpp"
