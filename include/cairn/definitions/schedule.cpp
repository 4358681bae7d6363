// The definitions of schedule/.
#include "cairn/schedule/default_policy.ipp"
#include "cairn/schedule/estimators.ipp"
#include "cairn/schedule/fit.ipp"
#include "cairn/schedule/optimum.ipp"
#include "cairn/schedule/planner.ipp"
#include "cairn/schedule/simulate.ipp"
#include "cairn/schedule/worth.ipp"
