// SPDX-License-Identifier: MIT
#include "cairn/run/signal_watch.hpp"
