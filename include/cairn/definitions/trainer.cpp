// SPDX-License-Identifier: MIT
// The definitions of trainer/.
#include "cairn/trainer/loop.ipp"
#include "cairn/trainer/observers.ipp"
#include "cairn/trainer/signals.ipp"
