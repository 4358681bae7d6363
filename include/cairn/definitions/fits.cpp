// SPDX-License-Identifier: MIT
// The definitions of what fits curves.
#include "cairn/schedule/fits/estimators.ipp"
#include "cairn/schedule/fits/fit.ipp"
