// SPDX-License-Identifier: MIT
// The definitions of run/.
#include "cairn/run/checkpointer.ipp"
#include "cairn/run/session.ipp"
#include "cairn/run/session_copies.ipp"
#include "cairn/run/session_save.ipp"
#include "cairn/run/session_work.ipp"
