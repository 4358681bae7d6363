// Definitions of simulate.hpp.
#pragma once

#include <algorithm>
#include <limits>
#include <numbers>
#include <optional>
#include <string>
#include <utility>

#include "cairn/schedule/simulate.hpp"
#include "cairn/schedule/worth.hpp"

namespace cairn::schedule {
namespace detail {

/// Numbers that depend on a job's seed and their index alone (splitmix64: Steele, Lea, Flood 2014).
class seeded_numbers {
 public:
  explicit seeded_numbers(std::uint64_t seed) : seed_(seed) {}

  [[nodiscard]] std::uint64_t bits(std::uint64_t index) const noexcept {
    auto z = seed_ + (index + 1) * 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  [[nodiscard]] seeded_numbers stream(std::uint64_t index) const noexcept { return seeded_numbers(bits(index)); }

  /// Between 0 and 1, neither of them.
  [[nodiscard]] double uniform(std::uint64_t index) const noexcept {
    return (static_cast<double>(bits(index) >> 11U) + 0.5) * 0x1p-53;
  }
  [[nodiscard]] double exponential(std::uint64_t index) const noexcept { return -std::log(uniform(index)); }
  [[nodiscard]] double normal(std::uint64_t index) const noexcept {  // Box and Muller
    return std::sqrt(2 * exponential(2 * index)) * std::cos(2 * std::numbers::pi * uniform(2 * index + 1));
  }

 private:
  std::uint64_t seed_;
};

/// What the jobs of a simulation have in common.
struct simulated_scenario {
  const scenario& what;
  const any_policy& policy;
  std::size_t most_failures;
  std::array<worth, objectives.size()> worths;
};

/// Workers of one age, until they fail.
class simulated_workers {
 public:
  simulated_workers(const any_failures& model, seeded_numbers draws) : model_(model), draws_(draws) {}

  void begin() {
    age_ = 0;
    hazard_ = model_.expected(0);
    left_ = draws_.exponential(drawn_++);
  }

  /// Lets `seconds` pass. Gives how many of them did before a failure; all where there is none.
  [[nodiscard]] double pass(double seconds, double workers) {
    has_failed_ = false;
    const double before = hazard_, later = model_.expected(age_ + seconds), expected = workers * (later - before);
    if (expected >= left_) return until_failure(seconds, workers, before);
    if (expected > 0) left_ -= expected;
    age_ += seconds;
    hazard_ = later;
    return seconds;
  }
  /// Within the time that was to pass last.
  [[nodiscard]] bool has_failed() const noexcept { return has_failed_; }

 private:
  [[nodiscard]] double until_failure(double seconds, double workers, double before) {
    has_failed_ = true;
    double low = 0, high = seconds;
    for (double middle = high / 2; low < middle && middle < high; middle = low + (high - low) / 2)
      (workers * (model_.expected(age_ + middle) - before) >= left_ ? high : low) = middle;
    return high;
  }

  const any_failures& model_;
  seeded_numbers draws_;
  std::uint64_t drawn_ = 0;
  double age_ = 0, hazard_ = 0;
  double left_ = 0;  // of the failures to be expected until the next one
  bool has_failed_ = false;
};

/// One job.
class simulated_job {
 public:
  simulated_job(const simulated_scenario& common, seeded_numbers draws)
      : common_(common),
        what_(common.what),
        noise_(draws.stream(2)),
        last_(last_step(draws.stream(1))),
        workers_(common.what.failures, draws.stream(0)),
        policy_(common.policy) {}

  [[nodiscard]] outcome run() {
    workers_.begin();
    while (at_ < last_ && !done_.is_given_up)
      if (!iterate() || (at_ < what_.planned.steps() && !ask())) fall_back();
    done_.steps = at_;
    done_.work = common_.worths[0].work[at_];
    return done_;
  }

 private:
  struct checkpoint {
    std::size_t step = 0;
    std::size_t links = 0;  // of its chain; 0: this is the beginning
    double restore = 0;     // seconds
    double published = 0;   // when, in seconds of this process
    double copied = 0;      // when, in seconds of the job
    save_cost cost{};
    std::optional<any_policy> policy{};  // as it was when the state was copied
  };

  /// The boundary at which the job is stopped: it gets to boundary k of n with probability alive(k / n).
  [[nodiscard]] std::size_t last_step(const seeded_numbers& draws) const {
    const auto steps = what_.planned.steps();
    const double drawn = draws.uniform(0);
    const auto is_alive = [&](std::size_t k) {
      return what_.stops.alive(static_cast<double>(k) / static_cast<double>(steps)) >= drawn;
    };
    if (steps == 0 || is_alive(steps)) return steps;
    std::size_t alive = 0, stopped = steps;
    while (stopped - alive > 1) {
      const auto middle = alive + (stopped - alive) / 2;
      (is_alive(middle) ? alive : stopped) = middle;
    }
    return alive;
  }

  /// Does the next iteration. False: a worker has failed meanwhile.
  bool iterate() {
    const double alone = what_.planned.seconds[at_];
    double slowed = 0;
    if (saving_) {
      const double left = saving_->published - clock_, rate = cost_of(saving_->cost.kind).slowdown;
      slowed = (1 - rate) * left >= alone ? alone / (1 - rate) - alone : rate * left;
    }
    iteration_seconds_ = alone + slowed;
    const double passed = workers_.pass(iteration_seconds_, what_.planned.workers_at(at_));
    const double part = passed / iteration_seconds_;
    spend(passed);
    if (saving_) {
      if (slowed > 0) charge(saving_->step, slowed * part, &bill::waiting);
      if (saving_->published <= clock_) publish();
    }
    if (workers_.has_failed()) {
      lose(part);
      return false;
    }
    ++at_;
    return true;
  }

  /// Asks the policy, and saves if it says so. False: a worker has failed meanwhile.
  bool ask() {
    if (is_news_) {
      policy_.saved(newest_.cost);
      is_news_ = false;
    }
    const auto decided = policy_.should_save({.step = at_,
                                              .seconds = clock_,
                                              .saved_step = saved_step_,
                                              .saved_seconds = saved_seconds_,
                                              .loss = loss(),
                                              .iteration_seconds = iteration_seconds_,
                                              .workers = what_.planned.workers_at(at_ - 1),
                                              .is_saving = saving_.has_value()});
    return !decided.save || saving_ || save(decided.kind.value_or(what_.usual));
  }

  [[nodiscard]] std::optional<double> loss() const {
    if (what_.planned.loss.empty()) return std::nullopt;
    const double seen = what_.planned.loss[at_], deviation = what_.loss_noise;
    return deviation > 0 ? seen * std::exp(deviation * noise_.normal(at_) - deviation * deviation / 2) : seen;
  }

  bool save(save_kind kind) {
    const bool starts_chain = newest_.links == 0 || (what_.anchor_every > 0 && newest_.links >= what_.anchor_every);
    if (kind == save_kind::delta && starts_chain) kind = save_kind::whole;
    const auto& takes = cost_of(kind);
    const bool is_delta = kind == save_kind::delta;
    ++done_.saves;
    saving_ = checkpoint{.step = at_,
                         .links = is_delta ? newest_.links + 1 : 1,
                         .restore = takes.restore + (is_delta ? newest_.restore : 0),
                         .copied = done_.seconds,
                         .cost = what_.kinds[static_cast<std::size_t>(kind)].told,
                         .policy = policy_};
    saving_->cost.step = at_;
    saving_->cost.kind = kind;
    saving_->cost.stall_seconds = takes.stall;
    saving_->cost.background_seconds = takes.background;
    if (takes.stall > 0) {
      const double passed = workers_.pass(takes.stall, what_.planned.workers_at(at_ - 1));
      spend(passed);
      charge(at_, passed, &bill::waiting);
      if (workers_.has_failed()) {
        saving_.reset();
        lose(0);
        return false;
      }
    }
    saved_step_ = at_;
    saved_seconds_ = clock_;
    saving_->published = clock_ + takes.background;
    if (takes.background == 0) publish();
    return true;
  }

  void publish() {
    newest_ = std::move(*saving_);
    saving_.reset();
    is_news_ = true;
    ++done_.published;
  }

  /// The work since the newest checkpoint is lost, with this part of the next iteration.
  void lose(double part) {
    ++done_.failures;
    for (std::size_t i = 0; i < objectives.size(); ++i) {
      const auto& work = common_.worths[i].work;
      const double next = part > 0 ? part * (work[at_ + 1] - work[at_]) : 0;
      if (counts(objectives[i])) done_.bills[i].lost += work[at_] - work[newest_.step] + next;
    }
  }

  /// Restores, as often as it takes, and goes on.
  void fall_back() {
    at_ = newest_.step;
    const double restore = newest_.links > 0 ? newest_.restore : cost_of(what_.usual).restore;
    for (;;) {
      if (done_.failures > common_.most_failures) {
        done_.is_given_up = true;
        return;
      }
      workers_.begin();
      const double passed = restore > 0 ? workers_.pass(restore, what_.planned.workers_at(at_)) : 0;
      spend(passed);
      charge(at_, passed, &bill::restoring);
      if (restore == 0 || !workers_.has_failed()) break;
      ++done_.failures;
    }
    saving_.reset();
    is_news_ = false;
    clock_ = 0;
    saved_step_ = at_;
    saved_seconds_ = 0;
    policy_ = common_.policy;
    if (newest_.links == 0) return;
    policy_.recall(newest_.policy->remember());
    policy_.restarted({.step = at_,
                       .restore_seconds = restore,
                       .after_failure = true,
                       .away_seconds = done_.seconds - newest_.copied});
  }

  void spend(double seconds) {
    clock_ += seconds;
    done_.seconds += seconds;
  }

  void charge(std::size_t boundary, double seconds, double bill::* as) {
    for (std::size_t i = 0; i < objectives.size(); ++i)
      if (as == &bill::waiting || counts(objectives[i]))
        done_.bills[i].*as += seconds * common_.worths[i].wait[boundary];
  }

  /// Is the newest failure charged?
  [[nodiscard]] bool counts(objective by) const noexcept { return by != objective::coci || done_.failures == 1; }

  [[nodiscard]] const costs& cost_of(save_kind kind) const { return what_.kinds[static_cast<std::size_t>(kind)].takes; }

  const simulated_scenario& common_;
  const scenario& what_;
  seeded_numbers noise_;
  std::size_t last_;
  simulated_workers workers_;
  any_policy policy_;

  std::size_t at_ = 0;  // boundary
  double clock_ = 0;    // seconds of this process
  double iteration_seconds_ = 0;
  std::size_t saved_step_ = 0;
  double saved_seconds_ = 0;
  checkpoint newest_;
  bool is_news_ = false;  // the policy has not been told of `newest_`
  std::optional<checkpoint> saving_;
  outcome done_;
};

inline void check(const scenario& what) {
  const auto check_number = [](double value, double most, const char* name) {
    if (!(value >= 0) || !(value <= most)) fail(errc::invalid, {name, " of a scenario is ", std::to_string(value)});
  };
  constexpr double most = std::numeric_limits<double>::max();
  for (const auto& kind : what.kinds) {
    check_number(kind.takes.stall, most, "a stall");
    check_number(kind.takes.background, most, "the background time of a save");
    check_number(kind.takes.slowdown, 1, "the slowdown by a save");
    check_number(kind.takes.restore, most, "the time of a restore");
  }
  check_number(what.loss_noise, most, "the noise of the loss");
  for (const double workers : what.planned.workers) check_number(workers, most, "the number of workers");
}

}  // namespace detail

CAIRN_INLINE std::size_t simulation::given_up() const {
  return static_cast<std::size_t>(
      std::count_if(jobs.begin(), jobs.end(), [](const outcome& each) { return each.is_given_up; }));
}

CAIRN_INLINE simulation simulate(const scenario& what, const any_policy& policy, const simulate_options& options) {
  detail::check(what);
  detail::simulated_scenario common{what, policy, options.most_failures, {}};
  for (std::size_t i = 0; i < objectives.size(); ++i) common.worths[i] = worth_of(objectives[i], what.planned);
  const detail::seeded_numbers draws(options.seed);
  simulation all{.seed = options.seed};
  all.jobs.reserve(options.jobs);
  for (std::size_t i = 0; i < options.jobs; ++i)
    all.jobs.push_back(detail::simulated_job(common, draws.stream(i)).run());
  return all;
}

CAIRN_INLINE sample_mean mean_of(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const double each : values) sum += each;
  sample_mean found{.mean = values.empty() ? 0 : sum / n, .standard_error = std::numeric_limits<double>::infinity()};
  for (const double each : values) squares += (each - found.mean) * (each - found.mean);
  if (values.size() > 1) found.standard_error = std::sqrt(squares / (n - 1) / n);
  return found;
}

}  // namespace cairn::schedule
