// SPDX-License-Identifier: MIT
// Rework: what a restart from the checkpoints of a method costs, measured on runs that are trained on from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "models/training.hpp"
#include "rework/writers.hpp"

namespace bench::rework {

/// A run without failures: its arrays at every checkpoint, and its losses at every evaluation.
struct undisturbed_run {
  std::vector<models::snapshot> checkpoints;  ///< after 0, 1, 2, ... periods
  std::vector<double> losses;                 ///< after 0, 1, 2, ... times `evaluate` iterations
  models::score test;                         ///< at the end
};

/// std::runtime_error for a run that diverges or does not learn.
[[nodiscard]] undisturbed_run train_undisturbed(const models::setting& model, std::uint64_t seed);

/// The losses of `run`, now and every `evaluate` iterations, until one is at most `target`. Stops at the first
/// evaluation at or after `limit` iterations, and if the run diverges.
[[nodiscard]] std::vector<double> losses_until(models::training& run, double target, std::uint64_t evaluate,
                                               std::uint64_t limit);

/// The iteration, interpolated, at which the losses first are at most `target`; NaN: never. They are `evaluate`
/// iterations apart, the first at 0.
[[nodiscard]] double iterations_to(std::span<const double> losses, double target, std::uint64_t evaluate);

/// A method that is given `share` of the state's fp32 bytes per period. It saves at the end of a period if it has not
/// spent more than it was given.
struct method {
  std::string name;
  std::function<std::unique_ptr<checkpoint_writer>(models::training&, models::part)> start;
  double share = 0;  ///< infinite: it saves every period
};

/// What a method cost in the runs of some seeds.
struct result {
  std::vector<std::vector<double>> rework;  ///< [seed][failure], in periods
  std::vector<double> delay;               ///< [seed]: of the fixed target, after the failure in the middle, in periods
  std::vector<double> share;               ///< [seed]: mean bytes of a period over the fp32 bytes of the state
  std::vector<double> stored_share;        ///< [seed]: mean bytes of a checkpoint over the fp32 bytes of the state
  std::vector<std::vector<double>> spent;  ///< [seed][save]: bytes over the fp32 bytes of the state
  std::vector<double> save_seconds;        ///< [seed]: mean of a save
};

/// The periods after which a run fails, right after the checkpoint: `count` of them, spread over the run, and none at
/// an anchor of a chain with one every 10 checkpoints. std::runtime_error if there are too few periods.
[[nodiscard]] std::vector<std::uint64_t> failure_periods(std::uint64_t periods, std::size_t count);

/// Whether a method that saved in every period would have done so with this share too. `spent` is that of one seed.
[[nodiscard]] bool fits(const std::vector<double>& spent, double share);

/// Adds the results of seed number `seed` (from 0) of `from` to `into`.
void add_seed(const result& from, std::size_t seed, result& into);

struct experiment {
  models::setting model;
  models::part what = models::part::weights;
  std::vector<std::uint64_t> failures;
};

/// Measures methods, one after another, on the run of one seed. Restarts from equal states after the same failure are
/// trained once.
class trial {
 public:
  /// `run` must outlive the trial.
  trial(experiment how, const undisturbed_run& run, std::uint64_t seed);

  /// Runs one method, and adds its results for this seed to `into`.
  void measure(const method& with, result& into);

 private:
  /// In periods. NaN: not reached.
  struct cost {
    double rework;
    double delay;  ///< to the fixed target; NaN also if this is not the middle failure
  };
  using restored_state = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;

  [[nodiscard]] std::uint64_t middle_failure() const { return how_.failures[how_.failures.size() / 2]; }
  /// The cost of a failure at the end of `period`, restarted from the state in `restarted_`; from `known_` if it has
  /// this state.
  cost restart(std::uint64_t period);
  /// Trains `restarted_` on to its targets.
  cost run_on(std::uint64_t period);

  experiment how_;
  const undisturbed_run& run_;
  std::unique_ptr<models::training> writing_, restarted_;
  std::map<restored_state, cost>
      known_;  ///< keys: the period of the failure; the iteration and the checksum of the restored state
};

/// A mean and its interval of 95 %: percentiles of 2,000 bootstrap samples of the seeds.
struct estimate {
  double mean, low, high;
};

/// NaN where a restart did not reach its target: then there is no mean.
[[nodiscard]] estimate mean_rework(const result& of);
/// The mean rework of `top` over that of `bottom`, from the same seeds.
[[nodiscard]] estimate rework_ratio(const result& top, const result& bottom);
/// Restarts that did not reach their target.
[[nodiscard]] std::size_t unreached(const result& of);
/// Mean of ceil(periods).
[[nodiscard]] double whole_rework(const result& of);
[[nodiscard]] double mean_of(const std::vector<double>& values);

}  // namespace bench::rework
