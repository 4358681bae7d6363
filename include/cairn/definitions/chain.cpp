// SPDX-License-Identifier: MIT
// The definitions of chain/ without merging.
#include "cairn/chain/attempt.ipp"
#include "cairn/chain/load.ipp"
#include "cairn/chain/reader.ipp"
