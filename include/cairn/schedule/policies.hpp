// SPDX-License-Identifier: MIT
// All policies. COCI's rule also needs an estimator: cairn/schedule/fits/estimators.hpp.
#pragma once

#include "cairn/schedule/adaptive.hpp"
#include "cairn/schedule/checkfreq.hpp"
#include "cairn/schedule/coci.hpp"
#include "cairn/schedule/combine.hpp"
#include "cairn/schedule/even_intervals.hpp"
#include "cairn/schedule/every.hpp"
