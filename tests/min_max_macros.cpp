// SPDX-License-Identifier: MIT
// The public headers compile in programs that define `min` and `max` as macros.
#include <bits/stdc++.h>

#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))

#include "cairn/cairn.hpp"
#include "cairn/encode/lc.hpp"
#include "cairn/merge.hpp"
#include "cairn/schedule/policies.hpp"
