// SPDX-License-Identifier: MIT
// The plan of saves with the least expected cost: exact, for any objective, by dynamic programming.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schedule/failure_models.hpp"
#include "schedule/workload.hpp"

namespace bench::schedule {

/// What a plan for a job is expected to cost. Each list has an entry per boundary; all but `save` rise.
struct cost_model {
  std::vector<double> risk;         ///< the failures that count, expected before it
  std::vector<double> exposed;      ///< the same before a save begun there is published
  std::vector<double> work;         ///< the price of all work before it
  std::vector<double> save;         ///< of a save there
  std::vector<std::uint32_t> next;  ///< the first boundary at which another save can begin
};

/// The cost model of a job at these prices. What comes after a possible early stop is weighted by its probability.
/// `failures` are taken at the age of a worker that has not failed before. `first_only`: only the job's first failure
/// counts. O(N). Throws errc::invalid for an invalid workload (see prices_of), or one with 2^32 iterations or more.
[[nodiscard]] cost_model cost_model_of(prices value, bool first_only, const workload& job, const save_times& saving,
                                       const any_failures& failures, const any_early_stop& stops);

/// The cost model under an objective.
[[nodiscard]] inline cost_model cost_model_of(objective what, const workload& job, const save_times& saving,
                                              const any_failures& failures, const any_early_stop& stops) {
  return cost_model_of(prices_of(what, job), what == objective::coci, job, saving, failures, stops);
}

/// The expected cost of saves at these boundaries, rising, each from 1 to N - 1: of the saves, and of the work lost
/// since the newest published checkpoint. Left out are failures while lost work is repeated, a part of about f times
/// the interval, and restoring, which does not depend on the plan. O(saves + N).
[[nodiscard]] double expected_cost(const cost_model& of, std::span<const std::uint32_t> saves);

/// Boundaries at which to save, and the expected cost.
struct plan {
  std::vector<std::uint32_t> saves{};  ///< boundaries at which to save, ascending
  double cost = 0;                     ///< expected, in seconds at the prices of the objective
};

/// The plan with the least expected cost. With save i as the newest one, reaching save j costs b_i + g_j - W_i x_j,
/// where W and x rise. So the best i for each j lies on a lower envelope of lines, which is walked along once (derived
/// in bench/schedule/README.md). O(N).
[[nodiscard]] plan optimum(const cost_model& of);

}  // namespace bench::schedule
