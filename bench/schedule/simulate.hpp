// SPDX-License-Identifier: MIT
// Simulated jobs with failures: a policy and a seed -> what saving, failures and restoring cost.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numbers>
#include <optional>
#include <span>
#include <vector>

#include "cairn/core/error.hpp"
#include "cairn/core/shuffle.hpp"
#include "cairn/schedule/base.hpp"
#include "cairn/schedule/level_schedule.hpp"
#include "schedule/failure_models.hpp"
#include "schedule/workload.hpp"

namespace bench::schedule {

/// Random numbers by index: each depends only on the seed and its index (splitmix64: Steele, Lea, Flood 2014). O(1).
class seeded_numbers {
 public:
  explicit seeded_numbers(std::uint64_t seed) : seed_(seed) {}

  /// 64 random bits.
  [[nodiscard]] std::uint64_t bits(std::uint64_t index) const noexcept {
    return cairn::detail::mix(seed_ + index * cairn::detail::mix_increment);
  }

  /// An independent sequence.
  [[nodiscard]] seeded_numbers stream(std::uint64_t index) const noexcept { return seeded_numbers(~bits(index)); }

  /// In the open interval (0, 1).
  [[nodiscard]] double uniform(std::uint64_t index) const noexcept {
    return (static_cast<double>(bits(index) >> 12U) + 0.5) * 0x1p-52;
  }
  /// Of mean 1; positive.
  [[nodiscard]] double exponential(std::uint64_t index) const noexcept { return -std::log(uniform(index)); }
  /// Of mean 0 and deviation 1 (Box and Muller 1958).
  [[nodiscard]] double normal(std::uint64_t index) const noexcept {
    return std::sqrt(2 * exponential(2 * index)) * std::cos(2 * std::numbers::pi * uniform(2 * index + 1));
  }

 private:
  std::uint64_t seed_;
};

/// Workers of one age, until one of them fails. Time passes in spans, with n workers in each. A failure comes when the
/// sum of n (H(age after) - H(age before)) passes a number drawn from Exp(1). The k-th `begin` draws the k-th number,
/// whatever was done before. `model` must outlive this object.
class workers_at_risk {
 public:
  workers_at_risk(const any_failures& model, seeded_numbers draws) : model_(&model), draws_(draws) { begin(); }

  /// Replaces all workers by new ones.
  void begin() {
    age_ = 0;
    hazard_ = model_->expected(0);
    left_ = draws_.exponential(drawn_++);
    has_failed_ = false;
  }

  /// Lets `seconds` pass, and returns how many of them passed before a failure; all where there is none. Call `begin`
  /// after a failure. O(1); a failure is located within the span by bisection.
  [[nodiscard]] double pass(double seconds, double workers) {
    const double later = model_->expected(age_ + seconds), expected = workers * (later - hazard_);
    if (expected >= left_) return until_failure(seconds, workers);
    if (expected > 0) left_ -= expected;
    age_ += seconds;
    hazard_ = later;
    return seconds;
  }
  /// Whether the last call of `run` ended with a failure.
  [[nodiscard]] bool has_failed() const noexcept { return has_failed_; }

 private:
  [[nodiscard]] double until_failure(double seconds, double workers) {
    has_failed_ = true;
    double low = 0, high = seconds;
    for (double middle = high / 2; low < middle && middle < high; middle = low + (high - low) / 2)
      (workers * (model_->expected(age_ + middle) - hazard_) >= left_ ? high : low) = middle;
    return high;
  }

  const any_failures* model_;
  seeded_numbers draws_;
  std::uint64_t drawn_ = 0;
  double age_ = 0, hazard_ = 0;
  double left_ = 0;  // of the failures to be expected until the next one
  bool has_failed_ = false;
};

/// The mean of a sample, and its standard error.
struct sample_mean {
  double mean = 0;            ///< arithmetic; 0 for no values
  double standard_error = 0;  ///< infinite for fewer than two values

  /// Of the 95 % confidence interval, by the normal distribution: for 30 values and more.
  [[nodiscard]] double half_width() const noexcept { return 1.959964 * standard_error; }
  /// The lower end of that interval.
  [[nodiscard]] double low() const noexcept { return mean - half_width(); }
  /// Its upper end.
  [[nodiscard]] double high() const noexcept { return mean + half_width(); }
};

/// Of independent values; the mean of none is 0. O(n).
[[nodiscard]] sample_mean mean_of(std::span<const double> values);

/// Saves of one kind.
struct kind_of_save {
  save_times takes{};           ///< `restore` of a delta: what it adds to restoring the previous checkpoint
  cairn::save_cost reported{};  ///< reported to the policy; step, kind, stall and background are filled in
};

/// The same times for saves of every kind.
[[nodiscard]] inline std::array<kind_of_save, 3> every_kind(const save_times& takes) {
  return {{{takes, {}}, {takes, {}}, {takes, {}}}};
}

/// A place that checkpoints are copied to, see cairn::levels.
struct far_place {
  double share = 0;    ///< of all failures: those that destroy each nearer place
  double taken = 0;    ///< by a copy from the training, in seconds, when it begins
  double seconds = 0;  ///< from then on until it can be restored
};

/// A job, its failures and early stops, and what saves take.
struct scenario {
  workload work;                                     ///< the job without failures and saves
  any_failures failures = failures::never{};         ///< of each worker
  any_early_stop stops = early_stops::none{};        ///< drawn once per job
  std::array<kind_of_save, 3> kinds{};               ///< by cairn::save_kind
  cairn::save_kind usual = cairn::save_kind::whole;  ///< where the policy asks for no kind
  /// Every nth checkpoint is whole, as in chain_options. At least 1; none: only the first.
  std::optional<std::size_t> anchor_every = 10;
  double loss_noise = 0;         ///< deviation of the log of a factor of mean 1 on the loss that the policy sees
  std::vector<far_place> far{};  ///< the nearest first
  /// What is known in advance of the failures of each of these; none: as cairn::levels.
  std::optional<cairn::schedule::level_schedule> copies{};
};

/// How many jobs are simulated, with which random numbers.
struct simulate_options {
  std::size_t jobs = 1000;           ///< simulated
  std::uint64_t seed = 1;            ///< of all random numbers
  std::size_t most_failures = 1000;  ///< a job with more failures is given up
};

/// The overhead of a job under an objective: seconds at the prices of prices_of.
struct overhead {
  double waiting = 0;    ///< for saves: their stalls and their slowdown
  double lost = 0;       ///< work that was repeated
  double restoring = 0;  ///< seconds of restoring, at the price of waiting where the job continues

  /// What expected_cost predicts.
  [[nodiscard]] double without_restoring() const noexcept { return waiting + lost; }
  /// All of it.
  [[nodiscard]] double total() const noexcept { return waiting + lost + restoring; }
};

/// A simulated job. Under machine_time, seconds = work + waiting + lost + restoring.
struct outcome {
  double seconds = 0;         ///< in all
  double work = 0;            ///< seconds of the iterations that were kept
  std::size_t steps = 0;      ///< reached
  std::size_t saves = 0;      ///< begun
  std::size_t published = 0;  ///< of these
  std::size_t failures = 0;   ///< of the job
  bool is_given_up = false;   ///< it failed more than `most_failures` times; the rest is up to that point
  std::array<overhead, objectives.size()> overheads{};  ///< by objective

  /// The overhead under one objective.
  [[nodiscard]] const overhead& of(objective what) const { return overheads[static_cast<std::size_t>(what)]; }
};

/// The jobs that `simulate` has run.
struct simulation {
  std::uint64_t seed = 0;       ///< with which they were run
  std::vector<outcome> jobs{};  ///< in the order of their index
};

/// Runs jobs one by one. What a job draws (its stop, its failures, the noise at each step) depends only on the seed and
/// its index, so all policies meet the same failures and can be compared job by job. O(iterations done), about 20 ns
/// each, and what the policy and the failure model take. Throws errc::invalid for an invalid workload (see prices_of),
/// for times, noise and numbers of workers that are negative or not finite, and for an `anchor_every` of 0.
///
/// - While a save runs in the background, a second of that takes `slowdown` seconds from the training. The policy is
///   asked after each iteration but the last one.
/// - A save stalls the trainer at once and is published `background` seconds later. A save that is asked for while
///   another one runs is not made. `saved` is called at the first step after publication. A delta is made whole where
///   there is no checkpoint yet, and where anchor_every says so.
/// - n workers of one age fail together when the sum of n (H(age after) - H(age before)) passes a number drawn from
///   Exp(1): during iterations, stalls and restoring. The job falls back to the newest published checkpoint, or to the
///   beginning. Either takes `restore` seconds (at the beginning those of the usual kind), and all workers are new: of
///   age 0 when restoring begins. A failure during a restore starts that restore again.
/// - With far places each failure draws which of them it leaves. The newest published checkpoint is copied to each one
///   at the boundary where cairn::schedule::level_schedule says so.
/// - Then a new copy of the policy recalls what the policy remembered when the checkpoint was copied, `restarted` is
///   called, and its seconds begin at 0. At the beginning there is no checkpoint, so neither is called.
/// - A job that stops early ends at the boundary before its stop, after the policy was asked there. Nothing after it
///   counts.
/// - Waiting is charged at the boundary of its save, lost work where the failure happened, also within an iteration.
///   Under `coci` only the first failure of a job is charged.
[[nodiscard]] simulation simulate(const scenario& what, const cairn::any_policy& policy,
                                  const simulate_options& options = {});

/// The mean over all jobs of `part`, a function of an outcome or a pointer to its member.
template <class Part>
[[nodiscard]] sample_mean mean_of(const simulation& all, const Part& part) {
  std::vector<double> values;
  for (const auto& each : all.jobs) values.push_back(static_cast<double>(std::invoke(part, each)));
  return mean_of(values);
}
/// The mean of waiting and lost work, at the prices of `what`: overhead::without_restoring, which expected_cost
/// predicts.
[[nodiscard]] inline sample_mean mean_of(const simulation& all, objective what) {
  return mean_of(all, [what](const outcome& each) { return each.of(what).without_restoring(); });
}

/// The mean of a's `part` minus b's, job by job. Its interval is far narrower than that of the difference of the means,
/// since both had the same failures. Throws errc::invalid where seeds or numbers of jobs differ.
template <class Part>
[[nodiscard]] sample_mean difference_of(const simulation& a, const simulation& b, const Part& part) {
  if (a.seed != b.seed || a.jobs.size() != b.jobs.size())
    cairn::fail(cairn::errc::invalid,
                {"two simulations of different seeds or numbers of jobs cannot be compared job by job"});
  std::vector<double> values;
  for (std::size_t i = 0; i < a.jobs.size(); ++i)
    values.push_back(static_cast<double>(std::invoke(part, a.jobs[i])) -
                     static_cast<double>(std::invoke(part, b.jobs[i])));
  return mean_of(values);
}
/// As above, of overhead::without_restoring at the prices of `what`.
[[nodiscard]] inline sample_mean difference_of(const simulation& a, const simulation& b, objective what) {
  return difference_of(a, b, [what](const outcome& each) { return each.of(what).without_restoring(); });
}

}  // namespace bench::schedule
