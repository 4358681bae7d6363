// SPDX-License-Identifier: MIT
// The definitions of schedule/, but for the fits.
#include "cairn/schedule/default_policy.ipp"
#include "cairn/schedule/optimum.ipp"
#include "cairn/schedule/planner.ipp"
#include "cairn/schedule/simulate.ipp"
#include "cairn/schedule/workload.ipp"
