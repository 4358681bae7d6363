// SPDX-License-Identifier: MIT
// The definitions of schedule/.
#include "cairn/schedule/adaptive.hpp"
#include "cairn/schedule/every.hpp"
#include "cairn/schedule/fits/estimators.ipp"
#include "cairn/schedule/fits/fit.ipp"

cairn::any_policy cairn::default_policy() { return policies::adaptive(); }
