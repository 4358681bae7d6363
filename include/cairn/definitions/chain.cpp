// SPDX-License-Identifier: MIT
// The definitions of chain/ without merging.
#include "cairn/chain/load.ipp"
