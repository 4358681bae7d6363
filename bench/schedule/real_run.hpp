// SPDX-License-Identifier: MIT
// A real training run under real kills: LeNet-5 to a target loss, and what saving, redoing and restoring took from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cairn/options.hpp"
#include "cairn/schedule/base.hpp"

#include "common/report.hpp"

namespace bench {

struct run_setting {
  std::string directory;                ///< for checkpoints, which are deleted after each run
  std::string data{};                   ///< folder of the MNIST files; empty: drawn digits
  std::uint64_t images = 0;             ///< the first n; 0: all
  std::uint64_t batch = 32;             ///< images per step
  double target = 8e-6;                 ///< the run ends with the first epoch of so small a mean loss
  double mtbf = 6;                      ///< mean seconds from the start of a process until it is killed
  double longest = 90;                  ///< seconds after which a run is given up
  std::string chart{};                  ///< SVG file of the time lost; empty: none
  std::vector<std::uint64_t> seeds{1};  ///< of the kills; a round of all methods for each
};

/// What is known of a run before it begins: from the undisturbed one.
struct run_facts {
  double mtbf = 0;               ///< of the process that kills, seconds
  double iteration_seconds = 0;  ///< mean
  std::uint64_t steps = 0;       ///< to the target
  std::uint64_t steps_per_epoch = 0;
  std::string fingerprint{};  ///< of the state at the target
};

struct run_method {
  std::string key;   ///< in JSON
  std::string name;  ///< for people
  /// Null: no checkpoints, every attempt begins at the beginning.
  std::function<cairn::checkpointer_options(const run_facts&)> options{};
};

/// Seconds that did not go into steps done for the first time.
struct time_lost {
  double saving = 0;     ///< waiting in `step`, and what steps beside a save take longer than undisturbed ones
  double slower = 0;     ///< what all other steps done for the first time take longer than undisturbed ones
  double redoing = 0;    ///< steps that had been done before, and the one at which a kill came
  double restoring = 0;  ///< from a kill to the beginning of the next step

  [[nodiscard]] double all() const noexcept { return saving + slower + redoing + restoring; }
};

struct run_result {
  bool reached = false;                 ///< the target
  double wall = 0;                      ///< seconds until then, or until the run was given up
  std::size_t attempts = 0, saves = 0;  ///< saves begun
  std::uint64_t steps = 0;              ///< the furthest
  double iteration = 0;                 ///< mean seconds of a step with no save beside it
  double stall = 0;                     ///< mean seconds of a save
  time_lost lost{};
  std::string fingerprint{};  ///< of the state at the target
};

/// The methods of the issue that do without a policy of their own: none and every epoch; then those given.
[[nodiscard]] std::vector<run_method> with_plain_methods(std::vector<run_method> others);

/// Trains once undisturbed, then with every method under the same kills, all methods in turn for each seed. Each
/// attempt is a process of its own, forked when the images are in memory. Prints a table; gives all numbers to
/// `numbers`, and as a figure real_run.overhead_vs_checkfreq, where there are methods of the keys "ours" and
/// "checkfreq": the median over the seeds; the same for "ours_untold". Time lost is against the step time of the
/// undisturbed run. Throws where a method that restores reaches another state than the undisturbed run.
void compare_real_runs(const std::vector<run_method>& methods, const run_setting& where, report& numbers);

}  // namespace bench
