// SPDX-License-Identifier: MIT
#include "cairn/store/write_piece.hpp"
