// All policies, for programs that name one.
#pragma once

#include "cairn/schedule/adaptive.hpp"
#include "cairn/schedule/checkfreq.hpp"
#include "cairn/schedule/coci.hpp"
#include "cairn/schedule/combine.hpp"
#include "cairn/schedule/every.hpp"
#include "cairn/schedule/optimal.hpp"
#include "cairn/schedule/young.hpp"
