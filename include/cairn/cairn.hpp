// All of Cairn that has no dependencies beyond its own: checkpointers, single saves and loads, merging, loops, signals, observers and
// both stores. Opt-in: adapters/ and schedule/policies.hpp.
#pragma once

#include "cairn/checkpointer.hpp"
#include "cairn/inspect.hpp"
#include "cairn/load.hpp"
#include "cairn/loop.hpp"
#include "cairn/merge.hpp"
#include "cairn/observers.hpp"
#include "cairn/save.hpp"
#include "cairn/signals.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/store/memory.hpp"
#include "cairn/version.hpp"
