// SPDX-License-Identifier: MIT
// What most trainers use: checkpointers, single saves and loads, loops, signals, observers, and the stores in a
// directory and in memory. Opt-in: adapters/, arrays.hpp, each_host.hpp, encode/lc.hpp, export.hpp, exporter.hpp,
// group/mpi.hpp, group/threads.hpp, import.hpp, levels.hpp, merge.hpp, parity.hpp, s3.hpp, schedule/fits/,
// schedule/policies.hpp and slurm.hpp.
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
