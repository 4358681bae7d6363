// SPDX-License-Identifier: MIT
// The definitions of run/.
#include "cairn/run/checkpoint_list.ipp"
#include "cairn/run/checkpointer.ipp"
#include "cairn/run/history.ipp"
#include "cairn/run/loop.ipp"
#include "cairn/run/observers.ipp"
#include "cairn/run/session.ipp"
#include "cairn/run/session_memory.ipp"
#include "cairn/run/session_restore.ipp"
#include "cairn/run/session_save.ipp"
#include "cairn/run/session_votes.ipp"
#include "cairn/run/session_work.ipp"
#include "cairn/run/signals.ipp"
