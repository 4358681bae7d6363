// SPDX-License-Identifier: MIT
// What most trainers use: checkpointers, single saves and loads, loops, signals, observers and both stores. Opt-in:
// arrays.hpp, export.hpp, exporter.hpp, merge.hpp, encode/lc.hpp, schedule/policies.hpp, schedule/fits/ and adapters/.
#pragma once

#include "cairn/checkpointer.hpp"
#include "cairn/inspect.hpp"
#include "cairn/load.hpp"
#include "cairn/loop.hpp"
#include "cairn/observers.hpp"
#include "cairn/save.hpp"
#include "cairn/signals.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/store/memory.hpp"
#include "cairn/version.hpp"
