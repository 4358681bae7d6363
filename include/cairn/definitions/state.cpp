// SPDX-License-Identifier: MIT
// The definitions of core/ and state/.
#include "cairn/core/error.ipp"
#include "cairn/core/strided.ipp"
#include "cairn/state/archived.ipp"
#include "cairn/state/convert.ipp"
#include "cairn/state/copies.ipp"
#include "cairn/state/enum_table.ipp"
#include "cairn/state/loader.ipp"
#include "cairn/state/loader_check.ipp"
#include "cairn/state/loader_joined.ipp"
#include "cairn/state/reshape.ipp"
#include "cairn/state/state.ipp"
#include "cairn/state/walk_holder.ipp"
#include "cairn/state/walk_map.ipp"
#include "cairn/state/walk_sequence.ipp"
#include "cairn/state/walk_tensor.ipp"
#include "cairn/state/walk_versioned.ipp"
#include "cairn/state/walker.ipp"

extern "C" void CAIRN_LINK_CHECK() noexcept {}
