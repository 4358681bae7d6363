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
        places_(draws.stream(3)),
        policy_(common.policy),
        copies_(chosen_copies()),
        far_(common.what.far.size()) {}

  [[nodiscard]] outcome run() {
    while (at_ < last_ && !done_.is_given_up)
      if (!iterate() || (at_ < what_.work.steps() && (!ask() || !copy()))) fall_back();
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
    cairn::policy_memory copies{};              // the same of the copies to far places
  };

  struct copies_at {
    checkpoint newest{};
    std::optional<checkpoint> running{};
    // When, in seconds of this process: the newest copy began, can be restored; the next one may begin.
    double begun = 0, published = 0, next = 0;
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
    copies_.worked(passed);
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
    if (!far_.empty()) copies_.remember(saving_->copies);
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

  /// Begins the copies that are due, each of the newest checkpoint. False: a worker failed.
  bool copy() {
    for (std::size_t i = 0; i < far_.size(); ++i) {
      end_copy(i);
      auto& far = far_[i];
      if (far.running || newest_.step == far.newest.step || clock_ < far.next) continue;
      far.running = newest_;
      far.begun = clock_;
      const double passed = workers_.pass(what_.far[i].taken, what_.work.workers_at(at_ - 1));
      spend(passed);
      charge(at_, passed, &overhead::waiting);
      if (workers_.has_failed()) {
        lose(0);
        return false;
      }
      far.published = far.begun + what_.far[i].seconds;
    }
    return true;
  }
  /// Ends the copy to a far place, if its time has come.
  void end_copy(std::size_t place) {
    auto& far = far_[place];
    if (!far.running || far.published > clock_) return;
    far.newest = std::move(*far.running);
    far.running.reset();
    copies_.copied(place, what_.far[place].taken, what_.far[place].seconds);
    far.next = far.begun + copies_.period(place).value();
  }

  void publish() {
    newest_ = std::move(*saving_);
    saving_.reset();
    restored_from_.reset();
    is_news_ = true;
    ++done_.published;
  }

  /// A worker fails: `newest_` is the newest checkpoint of the places that are left, `restored_from_` the nearest of
  /// these that has it.
  void fail() {
    ++done_.failures;
    double drawn = places_.uniform(done_.failures);
    // The nearest place that is left: 0 that of the saves, i + 1 the far place i. The farthest one has the first share.
    std::size_t left = far_.size();
    for (; left > 0 && drawn >= what_.far[left - 1].share; --left) drawn -= what_.far[left - 1].share;
    for (std::size_t i = 0; i < far_.size(); ++i) {
      end_copy(i);
      far_[i].running.reset();
      far_[i].next = 0;
      if (i + 1 < left) far_[i].newest = {};
    }
    if (left == 0) return;
    newest_ = {};
    for (std::size_t i = left - 1; i < far_.size(); ++i) {
      if (far_[i].newest.step <= newest_.step) continue;
      newest_ = far_[i].newest;
      restored_from_ = i;
    }
  }

  /// Loses the work since the newest checkpoint, and this part of the next iteration.
  void lose(double part) {
    fail();
    for (std::size_t i = 0; i < objectives.size(); ++i) {
      const auto& work = common_.prices_by[i].work;
      const double next = part > 0 ? part * (work[at_ + 1] - work[at_]) : 0;
      if (counts(objectives[i])) done_.overheads[i].lost += work[at_] - work[newest_.step] + next;
    }
  }

  /// Restores, as often as it takes.
  void fall_back() {
    double restore = 0;
    for (;;) {
      at_ = newest_.step;
      restore = newest_.links > 0 ? newest_.restore : times_of(what_.usual).restore;
      if (done_.failures > common_.most_failures) {
        done_.is_given_up = true;
        return;
      }
      workers_.begin();
      const double passed = restore > 0 ? workers_.pass(restore, what_.work.workers_at(at_)) : 0;
      spend(passed);
      charge(at_, passed, &overhead::restoring);
      if (restore == 0 || !workers_.has_failed()) break;
      fail();
    }
    saving_.reset();
    is_news_ = false;
    clock_ = 0;
    saved_step_ = at_;
    saved_seconds_ = 0;
    policy_ = common_.policy;
    copies_ = chosen_copies();
    if (newest_.links == 0) return;
    const cairn::restart how{.step = at_,
                             .restore_seconds = restore,
                             .after_failure = true,
                             .away_seconds = done_.seconds - newest_.copied,
                             .level = restored_from_ ? *restored_from_ + 1 : 0};
    policy_.recall(newest_.policy->remember());
    policy_.restarted(how);
    copies_.recall(newest_.copies);
    copies_.restarted(how);
  }

  [[nodiscard]] cairn::schedule::level_schedule chosen_copies() const {
    return what_.copies.value_or(cairn::schedule::level_schedule(what_.far.size()));
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
  seeded_numbers places_;  // that failures leave
  cairn::any_policy policy_;
  cairn::schedule::level_schedule copies_;

  std::size_t at_ = 0;  // boundary
  double clock_ = 0;    // seconds of this process
  double iteration_seconds_ = 0;
  std::size_t saved_step_ = 0;
  double saved_seconds_ = 0;
  checkpoint newest_;
  bool is_news_ = false;  // `newest_` was not reported to the policy
  std::optional<checkpoint> saving_;
  std::vector<copies_at> far_;
  std::optional<std::size_t> restored_from_;  // a far place, until the next save is published
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
  double shares = 0;
  for (const auto& far : what.far) {
    check_number(far.share, 1, "the share of failures that need a far place");
    check_number(far.taken, most, "what a copy takes");
    check_number(far.seconds, most, "the time of a copy");
    shares += far.share;
  }
  check_number(shares, 1 + 1e-9, "the sum of the shares of failures that need a far place");
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
