// SPDX-License-Identifier: MIT
// The definitions of store/ that keep checkpoints in their places, and of system/.
#include "cairn/store/base.ipp"
#include "cairn/store/directory.ipp"
#include "cairn/store/memory.ipp"
#include "cairn/store/naming.ipp"
#include "cairn/store/retention.ipp"
#include "cairn/system/json.ipp"
#include "cairn/system/memory.ipp"
#include "cairn/system/parallel.ipp"
