// SPDX-License-Identifier: MIT
// Several places for the checkpoints of a run. A unit of its own: of the static library, only programs that include
// cairn/levels.hpp link it.
#include "cairn/levels/levels.ipp"
