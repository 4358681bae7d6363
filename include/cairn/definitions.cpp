// All that Cairn compiles once per program where CAIRN_SEPARATE_COMPILATION is defined (core/config.hpp): add this unit to
// the program, as the CMake target cairn::compiled does.
#if !defined(CAIRN_SEPARATE_COMPILATION)
#define CAIRN_SEPARATE_COMPILATION
#endif

#include "cairn/chain/load.ipp"
#include "cairn/chain/merge.ipp"
#include "cairn/chain/reader.ipp"
#include "cairn/chain/save.ipp"
#include "cairn/core/convert.ipp"
#include "cairn/core/strided.ipp"
#include "cairn/encode/choice.ipp"
#include "cairn/encode/lc/codec.ipp"
#include "cairn/encode/lossless.ipp"
#include "cairn/encode/simd/lc_kernels.ipp"
#include "cairn/encode/simd/lossless_kernels.ipp"
#include "cairn/run/checkpointer.ipp"
#include "cairn/run/observers.ipp"
#include "cairn/run/series.ipp"
#include "cairn/run/session.ipp"
#include "cairn/run/session_background.ipp"
#include "cairn/schedule/default_policy.ipp"
#include "cairn/schedule/estimators.ipp"
#include "cairn/schedule/fit.ipp"
#include "cairn/schedule/optimum.ipp"
#include "cairn/schedule/planner.ipp"
#include "cairn/schedule/simulate.ipp"
#include "cairn/schedule/worth.ipp"
#include "cairn/state/describe.ipp"
#include "cairn/state/describing.ipp"
#include "cairn/state/match.ipp"
#include "cairn/state/matching.ipp"
#include "cairn/state/walker.ipp"
