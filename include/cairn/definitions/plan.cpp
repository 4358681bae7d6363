// SPDX-License-Identifier: MIT
// The definitions of plan/.
#include "cairn/plan/partition.ipp"
