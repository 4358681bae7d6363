// SPDX-License-Identifier: MIT
// What a save and a restore take on this machine: Cairn's in the background, and the blocking ones of a peer.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "schedule/workload.hpp"

#include "common/arguments.hpp"
#include "common/report.hpp"

namespace bench {

struct cost_setting {
  std::string directory;                      ///< for checkpoints; made, and deleted behind each process
  std::vector<double> targets;                ///< seconds that blocking saves of the states should take
  std::size_t saves = 5;                      ///< of each kind, after the first
  std::chrono::duration<double> patience{1};  ///< to wait at most for idle cores before a process starts
};

/// Medians of a kind of saves.
struct measured_save {
  schedule::save_times seconds{};  ///< all that a simulation needs; slowdown is no time but a part, at least 0
  double slowdown_of_cpu = 0;      ///< the same, but of the trainer's CPU time: without its waiting for a core
  double encode = 0, write = 0;    ///< seconds of `seconds.background`
  double bytes = 0;                ///< in files
  double cached = 0;  ///< the part of the bytes that a restore could take from the page cache, all the same
};

/// All of one size.
struct measured_costs {
  double target = 0;         ///< seconds of a blocking save asked for; what it takes is blocking.seconds.stall
  std::size_t mib = 0;       ///< of the state
  double iteration = 0;      ///< seconds of the training without a save
  measured_save raw{};       ///< Cairn, asynchronous and durable: bytes as they are
  measured_save whole{};     ///< without loss, the default
  measured_save delta{};     ///< lc<3> of floats, each to the one before; its restore follows the whole chain
  measured_save blocking{};  ///< torch::save and fsync, where there is libtorch; else write and fsync
};

/// Every kind of every size in a process of its own. The trainer computes on one core and changes every element a
/// little in each step; it needs a core of its own, or else what it waits for one is counted as slowdown. A restore is
/// from files out of the page cache, where the kernel drops them when it is asked. Prints a table per size, and gives
/// all numbers as costs.<size>.<kind>.<what>, sizes counted from 0.
std::vector<measured_costs> measure_costs(const cost_setting& where, report& numbers);

/// What the child process does: one kind of one size.
int run_cost_job(const arguments& options);

}  // namespace bench
