// SPDX-License-Identifier: MIT
// The definitions of group/.
#include "cairn/group/threads.ipp"
