// The definitions of core/ and state/.
#include "cairn/core/convert.ipp"
#include "cairn/core/strided.ipp"
#include "cairn/state/describe.ipp"
#include "cairn/state/describing.ipp"
#include "cairn/state/match.ipp"
#include "cairn/state/matching.ipp"
#include "cairn/state/walker.ipp"
