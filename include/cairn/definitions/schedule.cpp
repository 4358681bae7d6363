// The definitions of schedule/.
#include "cairn/schedule/default_policy.ipp"
#include "cairn/schedule/fits/estimators.ipp"
#include "cairn/schedule/fits/fit.ipp"
#include "cairn/schedule/optimum.ipp"
#include "cairn/schedule/planner.ipp"
#include "cairn/schedule/simulate.ipp"
#include "cairn/schedule/workload.ipp"
