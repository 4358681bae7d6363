// SPDX-License-Identifier: MIT
// Definitions of simulate.hpp.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include <range/v3/numeric/accumulate.hpp>

#include "cairn/core/float_bits.hpp"
#include "schedule/simulate.hpp"

namespace bench::schedule {
namespace detail {

/// What the jobs of a simulation have in common.
struct simulated_scenario {
  const scenario& what;
  const cairn::any_policy& policy;
  std::size_t most_failures;
  std::array<prices, objectives.size()> prices_by;
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
    while (at_ < last_ && !done_.is_given_up)
      if (!iterate() || (at_ < what_.work.steps() && !ask())) fall_back();
    done_.steps = at_;
    done_.work = common_.prices_by[0].work[at_];
    return done_;
  }

 private:
  struct checkpoint {
    std::size_t step = 0;
    std::size_t links = 0;  // of its chain; 0: the beginning of the job
    double restore = 0;     // seconds
    double published = 0;   // when, in seconds of this process
    double copied = 0;      // when, in seconds of the job
    cairn::save_cost cost{};
    std::optional<cairn::any_policy> policy{};  // as it was when the state was copied
  };

  /// The boundary at which the job stops: it reaches boundary k of n with probability alive(k / n).
  [[nodiscard]] std::size_t last_step(const seeded_numbers& draws) const {
    const auto steps = what_.work.steps();
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

  /// Does the next iteration. False: a worker failed.
  bool iterate() {
    const double alone = what_.work.seconds[at_];
    double slowed = 0;
    if (saving_) {
      const double left = saving_->published - clock_, rate = times_of(saving_->cost.kind).slowdown;
      slowed = (1 - rate) * left >= alone ? alone / (1 - rate) - alone : rate * left;
    }
    iteration_seconds_ = alone + slowed;
    const double passed = workers_.pass(iteration_seconds_, what_.work.workers_at(at_));
    const double part = passed / iteration_seconds_;
    spend(passed);
    if (saving_) {
      if (slowed > 0) charge(saving_->step, slowed * part, &overhead::waiting);
      if (saving_->published <= clock_) publish();
    }
    if (workers_.has_failed()) {
      lose(part);
      return false;
    }
    ++at_;
    return true;
  }

  /// Asks the policy, and saves if it says so. False: a worker failed.
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
                                              .workers = what_.work.workers_at(at_ - 1),
                                              .is_saving = saving_.has_value()});
    return !decided.save || saving_ || save(decided.kind.value_or(what_.usual));
  }

  [[nodiscard]] std::optional<double> loss() const {
    if (what_.work.loss.empty()) return std::nullopt;
    const double seen = what_.work.loss[at_], deviation = what_.loss_noise;
    return deviation > 0 ? seen * std::exp(deviation * noise_.normal(at_) - deviation * deviation / 2) : seen;
  }

  bool save(cairn::save_kind kind) {
    const bool starts_chain = newest_.links == 0 || (what_.anchor_every && newest_.links >= *what_.anchor_every);
    if (kind == cairn::save_kind::delta && starts_chain) kind = cairn::save_kind::whole;
    const auto& takes = times_of(kind);
    const bool is_delta = kind == cairn::save_kind::delta;
    ++done_.saves;
    saving_ = checkpoint{.step = at_,
                         .links = is_delta ? newest_.links + 1 : 1,
                         .restore = takes.restore + (is_delta ? newest_.restore : 0),
                         .copied = done_.seconds,
                         .cost = what_.kinds[static_cast<std::size_t>(kind)].reported,
                         .policy = policy_};
    saving_->cost.step = at_;
    saving_->cost.kind = kind;
    saving_->cost.stall_seconds = takes.stall;
    saving_->cost.background_seconds = takes.background;
    if (takes.stall > 0) {
      const double passed = workers_.pass(takes.stall, what_.work.workers_at(at_ - 1));
      spend(passed);
      charge(at_, passed, &overhead::waiting);
      if (workers_.has_failed()) {
        lose(0);
        return false;
      }
    }
    saved_step_ = at_;
    saved_seconds_ = clock_;
    saving_->published = clock_ + takes.background;
    return true;
  }

  void publish() {
    newest_ = std::move(*saving_);
    saving_.reset();
    is_news_ = true;
    ++done_.published;
  }

  /// Loses the work since the newest checkpoint, and this part of the next iteration.
  void lose(double part) {
    ++done_.failures;
    for (std::size_t i = 0; i < objectives.size(); ++i) {
      const auto& work = common_.prices_by[i].work;
      const double next = part > 0 ? part * (work[at_ + 1] - work[at_]) : 0;
      if (counts(objectives[i])) done_.overheads[i].lost += work[at_] - work[newest_.step] + next;
    }
  }

  /// Restores, as often as it takes.
  void fall_back() {
    at_ = newest_.step;
    const double restore = newest_.links > 0 ? newest_.restore : times_of(what_.usual).restore;
    for (;;) {
      if (done_.failures > common_.most_failures) {
        done_.is_given_up = true;
        return;
      }
      workers_.begin();
      const double passed = restore > 0 ? workers_.pass(restore, what_.work.workers_at(at_)) : 0;
      spend(passed);
      charge(at_, passed, &overhead::restoring);
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

  void charge(std::size_t boundary, double seconds, double overhead::* as) {
    for (std::size_t i = 0; i < objectives.size(); ++i)
      if (as == &overhead::waiting || counts(objectives[i]))
        done_.overheads[i].*as += seconds * common_.prices_by[i].wait[boundary];
  }

  /// Whether the newest failure is charged.
  [[nodiscard]] bool counts(objective by) const noexcept { return by != objective::coci || done_.failures == 1; }

  [[nodiscard]] const save_times& times_of(cairn::save_kind kind) const {
    return what_.kinds[static_cast<std::size_t>(kind)].takes;
  }

  const simulated_scenario& common_;
  const scenario& what_;
  seeded_numbers noise_;
  std::size_t last_;
  workers_at_risk workers_;
  cairn::any_policy policy_;

  std::size_t at_ = 0;  // boundary
  double clock_ = 0;    // seconds of this process
  double iteration_seconds_ = 0;
  std::size_t saved_step_ = 0;
  double saved_seconds_ = 0;
  checkpoint newest_;
  bool is_news_ = false;  // `newest_` was not reported to the policy
  std::optional<checkpoint> saving_;
  outcome done_;
};

inline void check(const scenario& what) {
  const auto check_number = [](double value, double most, const char* name) {
    if (!(value >= 0) || !(value <= most))
      cairn::fail(cairn::errc::invalid, {name, " of a scenario is ", std::to_string(value)});
  };
  constexpr double most = std::numeric_limits<double>::max();
  for (const auto& kind : what.kinds) {
    check_number(kind.takes.stall, most, "a stall");
    check_number(kind.takes.background, most, "the background time of a save");
    check_number(kind.takes.slowdown, 1, "the slowdown by a save");
    check_number(kind.takes.restore, most, "the time of a restore");
  }
  check_number(what.loss_noise, most, "the noise of the loss");
  if (what.anchor_every == std::size_t{0}) cairn::fail(cairn::errc::invalid, {"anchor_every of a scenario is 0"});
  for (const double workers : what.work.workers) check_number(workers, most, "the number of workers");
}

}  // namespace detail

sample_mean mean_of(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  const double mean = values.empty() ? 0 : ranges::accumulate(values, 0.0) / n;
  const auto square = [&](double each) { return (each - mean) * (each - mean); };
  const double squares = ranges::accumulate(values, 0.0, {}, square);
  return {mean, values.size() > 1 ? std::sqrt(squares / (n - 1) / n) : cairn::detail::infinite()};
}

simulation simulate(const scenario& what, const cairn::any_policy& policy, const simulate_options& options) {
  detail::check(what);
  detail::simulated_scenario common{what, policy, options.most_failures, {}};
  for (std::size_t i = 0; i < objectives.size(); ++i) common.prices_by[i] = prices_of(objectives[i], what.work);
  const seeded_numbers draws(options.seed);
  simulation all{.seed = options.seed};
  all.jobs.reserve(options.jobs);
  for (std::size_t i = 0; i < options.jobs; ++i)
    all.jobs.push_back(detail::simulated_job(common, draws.stream(i)).run());
  return all;
}

}  // namespace bench::schedule
