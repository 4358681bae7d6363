// SPDX-License-Identifier: MIT
// The definitions of group/.
#include "cairn/group/team.ipp"
#include "cairn/group/threads.ipp"
