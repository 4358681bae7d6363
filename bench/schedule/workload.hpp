// SPDX-License-Identifier: MIT
// The model of a job, the objectives of saving, and the prices of waiting and of lost work under each objective.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "cairn/core/error.hpp"  // IWYU pragma: export: what it throws

namespace bench::schedule {

/// A job without failures and saves. Iterations are numbered from 0. Boundary k lies before iteration k; saves are made
/// at boundaries, of which there are steps() + 1.
struct workload {
  std::vector<double> seconds;    ///< of each iteration, > 0
  std::vector<double> loss{};     ///< at each boundary; empty where no objective needs it
  std::vector<double> workers{};  ///< in each iteration; empty: one

  /// Iterations.
  [[nodiscard]] std::size_t steps() const noexcept { return seconds.size(); }
  /// Workers in one iteration.
  [[nodiscard]] double workers_at(std::size_t iteration) const noexcept {
    return workers.empty() ? 1 : workers[iteration];
  }
};

/// What a save and a restore are assumed to take, in seconds.
struct save_times {
  double stall = 0;       ///< that the trainer waits per save
  double background = 0;  ///< from the copy to publication; no other save can begin meanwhile
  double slowdown = 0;    ///< seconds that a second of `background` takes from the training
  double restore = 0;     ///< from a failure until the training continues

  /// All that a save takes from the training.
  [[nodiscard]] double of_a_save() const noexcept { return stall + slowdown * background; }
};

/// What is to be minimised. Let c(t) be the price of a second of waiting for a save, r(t) that of a second of lost
/// work, f(t) the rate of failures and s(t) the seconds of work since the newest checkpoint. The expected cost is
///   sum over saves of c(t) S + integral of f(t) (the integral of r over the last s(t) seconds) dt.
/// l' is the slope of the loss and D its fall over the T seconds of the run. Prices by the loss have a mean of 1 over
/// the run. Where the loss does not fall they are those of `machine_time`; where it rises for a while they are 0.
enum class objective : std::uint8_t {
  machine_time,  ///< seconds without training: c = r = 1
  progress,      ///< the fall of the loss that is missed while waiting and repeating work: c = r = T |l'| / D
  exploratory,   ///< waiting counts as time, lost work as lost progress: c = 1, r = T |l'| / D (the premise of COCI)
  coci,  ///< as `progress`, but failures count only up to the first one: f exp(-integral of f); saves count always
  worker_seconds  ///< c = r = the number of workers
};

inline constexpr std::array objectives{objective::machine_time, objective::progress, objective::exploratory,
                                       objective::coci, objective::worker_seconds};

[[nodiscard]] constexpr bool is_by_loss(objective what) noexcept {
  return what == objective::progress || what == objective::exploratory || what == objective::coci;
}

[[nodiscard]] constexpr std::string_view name(objective what) noexcept {
  switch (what) {
    case objective::machine_time:
      return "machine_time";
    case objective::progress:
      return "progress";
    case objective::exploratory:
      return "exploratory";
    case objective::coci:
      return "coci";
    case objective::worker_seconds:
      return "worker_seconds";
  }
  return "unknown";
}

/// The prices of a job, with an entry per boundary; see `objective` for c and r.
struct prices {
  std::vector<double> wait;  ///< c: of a second of waiting there
  std::vector<double> work;  ///< of all work before it: the integral of r; rising
};

/// O(N). Throws errc::invalid where the sizes of the workload's lists do not match, or a duration is not positive and
/// finite.
[[nodiscard]] prices prices_of(objective what, const workload& job);

}  // namespace bench::schedule
