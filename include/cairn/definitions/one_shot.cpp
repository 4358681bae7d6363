// SPDX-License-Identifier: MIT
// The definitions that need no checkpointer: once/ and exchange/.
#include "cairn/exchange/export.ipp"
#include "cairn/exchange/exporter.ipp"
#include "cairn/exchange/import.ipp"
#include "cairn/once/inspect.ipp"
#include "cairn/once/load.ipp"
#include "cairn/once/save.ipp"
