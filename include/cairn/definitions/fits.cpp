// SPDX-License-Identifier: MIT
// The definitions of what fits curves, where Eigen is installed.
#if __has_include(<Eigen/Cholesky>)
#include "cairn/schedule/fits/estimators.ipp"
#include "cairn/schedule/fits/fit.ipp"
#endif
