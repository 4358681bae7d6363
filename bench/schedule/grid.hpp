// SPDX-License-Identifier: MIT
// The grid of simulated jobs, COCI's set-up: every stall, MTBF, end, number of workers and loss, under every policy and
// objective.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "cairn/schedule/base.hpp"
#include "cairn/schedule/estimator.hpp"
#include "schedule/workload.hpp"
#include "schedule/simulate.hpp"

namespace bench {

/// Jobs of 10,000 iterations. One worker takes 3 seconds for one, four, two and one of them, in turn, 1.5, 3 and 6.
struct cell {
  std::size_t stall_index = 0;
  double stall = 0;            ///< seconds; blocking
  double hours = 0;            ///< a worker's MTBF
  bool stops_early = false;    ///< anywhere between 40 and 60 % of the plan alike; else it runs to its end
  bool loses_workers = false;  ///< 4, 2, 1, a third of the iterations each; else 1
  bool falls_steeply = false;  ///< exponential loss, tenfold within the first fifth of the plan; else within all of it

  [[nodiscard]] std::string name() const;
};

inline constexpr std::array stalls{0.13, 0.27, 0.59, 0.60, 1.6};
inline constexpr std::array mtbf_hours{4.0, 8.0, 16.0, 70.0};
inline constexpr std::size_t iterations = 10'000;

[[nodiscard]] std::vector<cell> all_cells();
[[nodiscard]] cairn::loss_curve curve_of(const cell& where);

/// The job of a cell in which saves of every kind cost the same.
[[nodiscard]] schedule::scenario scenario_of(const cell& where, const schedule::save_times& saving, double loss_noise);

/// A policy in a cell, for an objective. Where `by_objective` is false it is the same for all.
struct contestant {
  std::string key;
  std::string name;
  bool by_objective = false;
  std::function<cairn::any_policy(const cell&, schedule::objective)> make{};
};

/// Policies whose options give the stall, the MTBF, the curve of the loss, the plan and its early stops, with the same
/// values for all. The last one is the exact optimum's plan.
[[nodiscard]] std::vector<contestant> informed_policies();

/// Policies as they are used: they measure stalls, and fit the loss, which has 10 % of noise. Their options
/// give only the MTBF and the plan.
[[nodiscard]] std::vector<contestant> measuring_policies();

/// The steps after which a policy saves in a job without failures and early stops.
[[nodiscard]] std::vector<std::uint32_t> saves_of(schedule::scenario job, const cairn::any_policy& policy);

/// What all contestants have cost in a cell under one objective.
struct comparison {
  cell where;
  schedule::objective what{};
  std::vector<schedule::simulation> results;  ///< by contestant
};

/// Simulates all contestants in all cells, under the objectives. Jobs that do not depend on the objective are simulated
/// once. `visit` gets one comparison at a time. On `threads` threads.
void simulate_grid(std::span<const cell> cells, std::span<const contestant> contestants,
                   std::span<const schedule::objective> objectives,
                   const std::function<schedule::scenario(const cell&, const contestant&)>& job, std::size_t jobs,
                   unsigned threads, const std::function<void(const comparison&)>& visit);

}  // namespace bench
