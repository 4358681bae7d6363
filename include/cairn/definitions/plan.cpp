// SPDX-License-Identifier: MIT
// The definitions of plan/.
#include "cairn/plan/item_list.ipp"
#include "cairn/plan/partition.ipp"
