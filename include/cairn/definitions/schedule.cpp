// SPDX-License-Identifier: MIT
// The definitions of schedule/.
#include "cairn/schedule/base.ipp"
#include "cairn/schedule/fits/estimators.ipp"
#include "cairn/schedule/fits/fit.ipp"
