// SPDX-License-Identifier: MIT
#include "cairn/store/checkpoint_ref.hpp"
