// Measurements that need a process of their own.
#pragma once

#include <string>
#include <vector>

#include "common/arguments.hpp"

namespace bench {

/// The very first save of a fresh checkpointer, some steps after it has found nothing to restore.
struct first_save {
  double stall = 0, copy = 0;  ///< seconds; of memcpy with two threads, one step before
};
[[nodiscard]] first_save measure_first_save(const std::string& directory, std::size_t mib);

/// Peak of resident bytes of a state that is trained and saved asynchronously, over the state's bytes.
[[nodiscard]] double measure_peak_memory(const std::string& directory, std::size_t mib);

/// So many steps of a trainer that computes on one core, with and without saving.
struct training_times {
  double without = 0, with = 0;  ///< seconds; `with`: one save in flight all the time
  double stall = 0;              ///< seconds of `with` that `step` took
  double saves = 0;              ///< begun in `with`
};
[[nodiscard]] std::vector<training_times> measure_throughput(const std::string& directory, std::size_t mib,
                                                             std::size_t repetitions, std::size_t steps);

/// Nanoseconds of one `poll`, one value per repetition.
[[nodiscard]] std::vector<double> measure_poll(const std::string& directory, std::size_t repetitions);

/// What the child process does: the job that --job names; prints numbers.
int run_job(const arguments& options);

}  // namespace bench
