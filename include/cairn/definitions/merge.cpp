// SPDX-License-Identifier: MIT
// Merging of deltas. A unit of its own: only programs that include cairn/merge.hpp link it.
#include "cairn/chain/merge.ipp"
