// All that Cairn compiles once per program where CAIRN_SEPARATE_COMPILATION is defined (core/config.hpp): add this unit to
// the program, as the CMake target cairn::compiled does.
#if !defined(CAIRN_SEPARATE_COMPILATION)
#define CAIRN_SEPARATE_COMPILATION
#endif

#include "cairn/chain_reader.ipp"
#include "cairn/checkpointer.ipp"
#include "cairn/core/convert.ipp"
#include "cairn/core/strided.ipp"
#include "cairn/encode/lc.ipp"
#include "cairn/encode/lossless.ipp"
#include "cairn/load.ipp"
#include "cairn/merge.ipp"
#include "cairn/observers.ipp"
#include "cairn/save.ipp"
#include "cairn/saver.ipp"
#include "cairn/schedule/estimators.ipp"
#include "cairn/schedule/fit.ipp"
#include "cairn/state/describe.ipp"
#include "cairn/state/describing.ipp"
#include "cairn/state/match.ipp"
#include "cairn/state/matching.ipp"
#include "cairn/state/walker.ipp"
#include "cairn/training_saver.ipp"
