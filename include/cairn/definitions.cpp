// SPDX-License-Identifier: MIT
// All definitions in one unit, for builds without CMake. Compile it once per program and define CAIRN_SEPARATE_COMPILATION for all
// units (core/config.hpp). The units of cairn::compiled are the files listed here: CMake reads this list.
#if !defined(CAIRN_SEPARATE_COMPILATION)
#define CAIRN_SEPARATE_COMPILATION
#endif

#include "cairn/definitions/chain.cpp"
#include "cairn/definitions/encode.cpp"
#include "cairn/definitions/fits.cpp"
#include "cairn/definitions/group.cpp"
#include "cairn/definitions/kernels.cpp"
#include "cairn/definitions/lc.cpp"
#include "cairn/definitions/merge.cpp"
#include "cairn/definitions/plan.cpp"
#include "cairn/definitions/run.cpp"
#include "cairn/definitions/schedule.cpp"
#include "cairn/definitions/state.cpp"
#include "cairn/definitions/store.cpp"
