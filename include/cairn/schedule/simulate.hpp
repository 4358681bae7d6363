// Whole jobs with failures, simulated: a policy and a seed -> what saving, failing and restoring have cost it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "cairn/core/config.hpp"
#include "cairn/core/error.hpp"
#include "cairn/schedule/base.hpp"
#include "cairn/schedule/course.hpp"
#include "cairn/schedule/early_stop.hpp"
#include "cairn/schedule/failures.hpp"
#include "cairn/schedule/objective.hpp"
#include "cairn/schedule/sample_mean.hpp"

namespace cairn::schedule {

/// Saves of one kind.
struct kind_of_save {
  costs takes{};     ///< `restore` of a delta is what it adds to restoring the checkpoint before it
  save_cost told{};  ///< to the policy when one is published; step, kind, stall and background are filled in
};

/// The same costs for saves of every kind.
[[nodiscard]] inline std::array<kind_of_save, 3> every_kind(const costs& takes) {
  return {{{takes, {}}, {takes, {}}, {takes, {}}}};
}

/// A job, what befalls it, and what saving costs it.
struct scenario {
  course planned;
  any_failures failures = cairn::failures::never{};  ///< of each worker
  any_early_stop stops = early_stops::none{};        ///< drawn once per job
  std::array<kind_of_save, 3> kinds{};               ///< by save_kind
  save_kind usual = save_kind::whole;                ///< of a save of which the policy does not say as what
  std::size_t anchor_every = 10;  ///< every so many checkpoints one is whole, as in chain_options; 0: the first alone
  double loss_noise = 0;  ///< the policy sees the loss times a log-normal factor of mean 1; its log has this deviation
};

struct simulate_options {
  std::size_t jobs = 1000;
  std::uint64_t seed = 1;
  std::size_t most_failures = 1000;  ///< a job that has failed more often is given up
};

/// What a job has cost under an objective, in its unit: seconds at the prices of worth_of.
struct bill {
  double waiting = 0;    ///< for saves: their stalls, and what they take from the training while they go on behind it
  double lost = 0;       ///< work that was done again
  double restoring = 0;  ///< seconds of restoring, at the price of waiting where the job goes on

  /// Without restoring, as expected_cost has it.
  [[nodiscard]] double overhead() const noexcept { return waiting + lost; }
  [[nodiscard]] double total() const noexcept { return waiting + lost + restoring; }
};

/// A simulated job. Under machine_time, seconds = work + waiting + lost + restoring.
struct outcome {
  double seconds = 0;         ///< that it took
  double work = 0;            ///< seconds of the iterations that it kept
  std::size_t steps = 0;      ///< that it got to
  std::size_t saves = 0;      ///< begun
  std::size_t published = 0;  ///< of these
  std::size_t failures = 0;
  bool is_given_up = false;  ///< it failed more than `most_failures` times; all else is what it came to until then
  std::array<bill, objectives.size()> bills{};

  [[nodiscard]] const bill& of(objective what) const { return bills[static_cast<std::size_t>(what)]; }
};

struct simulation {
  std::uint64_t seed = 0;
  std::vector<outcome> jobs{};

  [[nodiscard]] std::size_t given_up() const;
};

/// Runs jobs one by one. What a job draws (its stop, its failures, the noise at each step) depends on the seed and its index alone, so
/// that all policies meet the same fate and can be compared job by job. Errors: errc::invalid for a course as worth_of has it, and for
/// costs, noise and numbers of workers that are negative or no finite numbers. O(iterations done), some 20 ns each and what the policy
/// and the failure model take; memory for `outcome` per job.
///
/// - An iteration takes its seconds. While a save is on its way, a second of that takes `slowdown` seconds from the training. After each
///   but the last one of the plan the policy is asked; the end of the job needs no save.
/// - A save stalls the trainer at once and is published `background` seconds after that. One that is wanted while another is on its
///   way is not made. `saved` is told at the first step after it is published. A delta is made whole where there is no checkpoint yet
///   and where anchor_every says so.
/// - n workers of one age fail together once n (H(age) - H(age before)), summed up, has passed a number drawn from Exp(1); during
///   iterations, stalls and restoring alike. A failure goes back to the newest checkpoint published until then, or to the beginning;
///   either way it costs `restore` seconds (from the beginning those of the usual kind), and all workers are new: of age 0 when
///   restoring begins. One during a restore begins that restore anew.
/// - Then a fresh copy of the policy recalls what the policy remembered when the checkpoint was copied, and is told that it restarted,
///   and its seconds begin at 0. From the beginning it recalls nothing and is told nothing, as there is no checkpoint to go on from.
/// - A job that is stopped at some part of its plan ends at the boundary before that, when the policy has been asked there for the last
///   time. Nothing after it counts.
/// - Waiting is charged at the boundary of its save, lost work where the failure fell, also within an iteration. Under `coci` only the
///   first failure of a job is charged.
[[nodiscard]] CAIRN_INLINE simulation simulate(const scenario& what, const any_policy& policy,
                                               const simulate_options& options = {});

/// The mean of `part` of each outcome: a function of it or a pointer to its member.
template <class Part>
[[nodiscard]] sample_mean mean_of(const simulation& all, const Part& part) {
  std::vector<double> values;
  for (const auto& each : all.jobs) values.push_back(static_cast<double>(std::invoke(part, each)));
  return mean_of(values);
}
[[nodiscard]] inline sample_mean mean_of(const simulation& all, objective what) {
  return mean_of(all, [what](const outcome& each) { return each.of(what).overhead(); });
}

/// The mean of a's `part` less b's, job by job: far narrower than the difference of the means, as both met the same fate. Throws
/// errc::invalid where they have not the same seed and number of jobs.
template <class Part>
[[nodiscard]] sample_mean difference_of(const simulation& a, const simulation& b, const Part& part) {
  if (a.seed != b.seed || a.jobs.size() != b.jobs.size())
    fail(errc::invalid, {"two simulations of different seeds or numbers of jobs cannot be compared job by job"});
  std::vector<double> values;
  for (std::size_t i = 0; i < a.jobs.size(); ++i)
    values.push_back(static_cast<double>(std::invoke(part, a.jobs[i])) -
                     static_cast<double>(std::invoke(part, b.jobs[i])));
  return mean_of(values);
}
[[nodiscard]] inline sample_mean difference_of(const simulation& a, const simulation& b, objective what) {
  return difference_of(a, b, [what](const outcome& each) { return each.of(what).overhead(); });
}

}  // namespace cairn::schedule

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/schedule/simulate.ipp"  // IWYU pragma: keep
#endif
