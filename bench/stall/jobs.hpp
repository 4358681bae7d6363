// SPDX-License-Identifier: MIT
// Measurements, each in a process of its own that does nothing else.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "common/arguments.hpp"
#include "stall/way.hpp"

namespace bench {

/// What a process is started with, after sync() and when the cores are idle: waits for that, `patience` at most.
struct setting {
  std::string directory;  ///< made for the process, and deleted afterwards
  std::size_t mib = 1;    ///< of the state
  std::chrono::duration<double> patience{5};
};

/// One save of a trainer that rewrites its state in every step. Seconds.
struct save_times {
  double waits = 0;         ///< what the trainer waits for: the call, and where it must, before it writes again
  double slower = 0;        ///< of the steps until the save is durable, beyond what they take without
  double first_slower = 0;  ///< the part of `slower` in the first of these steps
  double stall = 0;         ///< `waits`; of a way that goes on in page faults, with `slower`
  double durable = 0;       ///< from the beginning until durable
  double copy = 0;          ///< memcpy with two threads, one step before the save
  double step = 0;          ///< of the training, without a save
  double bytes = 0;
};

/// The saves of one process after its first, `saves` of them.
[[nodiscard]] std::vector<save_times> measure_saves(const known_way& how, const setting& where, std::size_t saves);

/// The stall of the very first save of a fresh checkpointer, some steps after it has found nothing to restore, over
/// memcpy with two threads, one step before.
[[nodiscard]] double measure_first_save(const setting& where);

/// Peak of resident bytes of a state that is trained and saved asynchronously, over the state's bytes.
[[nodiscard]] double measure_peak_memory(const setting& where);

/// Neighbouring blocks of steps of a trainer that computes on one core, without and with saving; all per step.
struct training_times {
  double without = 0, with = 0;  ///< seconds; `with`: one save in flight all the time
  double stall = 0;              ///< seconds of `with` that the checkpointer's `step` took
  double saves = 0;              ///< begun in `with`
};

/// `pairs` of blocks after one that is not counted. The block without has `steps` steps; the one with saves begins just
/// after a save has begun and ends, after at least `steps` steps, when another one has: whole rounds of saving.
[[nodiscard]] std::vector<training_times> measure_throughput(const setting& where, std::size_t pairs,
                                                             std::size_t steps);

/// Nanoseconds of one `poll`, one value per repetition.
[[nodiscard]] std::vector<double> measure_poll(const setting& where, std::size_t repetitions);

/// What the child process does: the job that --job names; prints numbers.
int run_job(const arguments& options);

}  // namespace bench
