// SPDX-License-Identifier: MIT
// The definitions of core/ and state/.
#include "cairn/core/catalog.ipp"
#include "cairn/core/error.ipp"
#include "cairn/state/archived.ipp"
#include "cairn/state/convert.ipp"
#include "cairn/state/copies.ipp"
#include "cairn/state/loader.ipp"
#include "cairn/state/loader_check.ipp"
#include "cairn/state/state.ipp"
#include "cairn/state/walk.ipp"
#include "cairn/state/walk_record.ipp"

extern "C" void CAIRN_LINK_CHECK() noexcept {}
