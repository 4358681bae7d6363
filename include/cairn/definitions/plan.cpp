// The definitions of plan/.
#include "cairn/plan/partition.ipp"
#include "cairn/plan/simulate.ipp"
