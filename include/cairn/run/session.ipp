// SPDX-License-Identifier: MIT
// Definitions of session.hpp: what the trainer calls, and the check of its options.
#pragma once

#include <set>
#include <tuple>

#include <sched.h>

#include "cairn/core/float_bits.hpp"
#include "cairn/run/session.hpp"
#include "cairn/state/describe.hpp"
#include "cairn/store/retention.hpp"

namespace cairn::inline v0_1::detail {

/// Throws errc::invalid for options that are out of range or would do nothing.
inline void check_options(const checkpointer_options& options, bool copies) {
  constexpr std::uint64_t least_staging_bytes = std::uint64_t{1} << 20U;
  const auto invalid = [](std::string_view option, const std::string& why) { fail(errc::invalid, {option, " ", why}); };
  if (options.max_staging_bytes && *options.max_staging_bytes < least_staging_bytes)
    invalid("max_staging_bytes", "is " + std::to_string(*options.max_staging_bytes) + ", below 1 MiB");
  if (options.max_bytes_per_second && !is_positive(*options.max_bytes_per_second))
    invalid("max_bytes_per_second", "is " + std::to_string(*options.max_bytes_per_second) + ", not above 0");
  if (options.chain.anchor_every == std::size_t{0})
    invalid("chain.anchor_every", "is 0: 1 makes every checkpoint whole, std::nullopt only the first");
  if (options.chain.merge && options.chain.merge->every < 2)
    invalid("chain.merge.every", "is below 2: std::nullopt never merges");
  if (options.chain.merge && options.chain.merge->open == nullptr)
    invalid("chain.merge", "is no cairn::merging: #include <cairn/merge.hpp>");
  if (options.hang_timeout && !cairn::detail::is_positive(options.hang_timeout->count()))
    invalid("hang_timeout", "is not above 0");
  if (is_nan(options.retry_for.count()) || options.retry_for.count() < 0) invalid("retry_for", "is below 0");
  if (!cairn::detail::is_positive(options.preempt_deadline.count())) invalid("preempt_deadline", "is not above 0");
  const auto check_listed = [&](std::string_view option, auto chosen, auto last) {
    if (chosen > last)
      invalid(option, "is " + std::to_string(static_cast<int>(chosen)) + ", which its type does not have");
  };
  check_listed("on_busy", options.on_busy, when_busy::replace);
  check_listed("on_destruction", options.on_destruction, when_destroyed::cancel);
  check_listed("on_failure", options.on_failure, when_failed::keep_training);
  check_listed("replica_check", options.replica_check, replica_check::refuse);
  check_listed("on_older_step", options.on_older_step, when_older::replace);
  check_shards(options.shards);
  constexpr unsigned most_cores = CPU_SETSIZE;
  if (!options.cores.empty() && *options.cores.rbegin() >= most_cores)
    invalid("cores", "has " + std::to_string(*options.cores.rbegin()) + ", above 1023");
  check_rules({options.keep_last, options.keep_best, options.keep_every});

  const checkpointer_options defaults{.when = options.when};  // the default policy is not compiled where it is not used
  if (!options.durable) invalid("durable", "is false, which is an option of the store that is passed in");
  if (options.chain.merge && !options.chain.anchor_every && !options.chain.merge->to_whole)
    invalid("chain.merge",
            "merges deltas into deltas, and without chain.anchor_every their chain grows without bound: set that, or "
            "to_whole");
  if (options.preempt.is_empty() && options.preempt_deadline != defaults.preempt_deadline)
    invalid("preempt_deadline", "is given without preempt");
  if (options.asynchronous) return;
  const auto check_unused = [&](bool is_default, std::string_view option) {
    if (!is_default) invalid(option, "is of use only with asynchronous = true");
  };
  check_unused(options.on_busy == defaults.on_busy, "on_busy");
  check_unused(options.copy_threads == defaults.copy_threads, "copy_threads");
  check_unused(!options.max_staging_bytes, "max_staging_bytes");
  check_unused(!options.max_bytes_per_second, "max_bytes_per_second");
  if (options.chain.merge || copies) return;  // which run in the background in any case
  check_unused(options.cores.empty(), "cores");
  check_unused(options.background_threads == defaults.background_threads, "background_threads");
  check_unused(options.on_destruction == defaults.on_destruction, "on_destruction");
  check_unused(!options.hang_timeout, "hang_timeout");
}

/// What all ranks must have in common.
inline std::string common_options(const any_store& store, const checkpointer_options& options) {
  const auto number = [](auto value) { return std::to_string(static_cast<int>(value)); };
  const auto count = [](const auto& value) { return value ? std::to_string(*value) : "none"; };
  std::string places = common_location(store);
  if (const auto levels = store.levels())
    for (std::size_t i = 1; i < levels->size(); ++i) places += " and " + levels->place(i).location();
  std::string text = "place " + places + ", asynchronous " + number(options.asynchronous) + ", on_busy " +
                     number(options.on_busy) + ", on_destruction " + number(options.on_destruction) + ", on_failure " +
                     number(options.on_failure) + ", on_older_step " + number(options.on_older_step) +
                     ", replica_check " + number(options.replica_check) + ", chain.anchor_every " +
                     count(options.chain.anchor_every) + ", chain.merge.every " +
                     (options.chain.merge ? std::to_string(options.chain.merge->every) : "none") +
                     (options.chain.merge && options.chain.merge->to_whole ? " to a whole checkpoint" : "") +
                     (options.when.uses_steps_alone() ? ", a policy of steps alone" : "");
  for (const auto& rule : options.codecs)
    text += ", " + rule.pattern + ": " + std::string(rule.codec.name()) +
            (rule.codec.uses_parent() ? " with the parent" : "");
  return text;
}

session::session(any_store store, checkpointer_options options, std::optional<any_group> ranks)
    : options_(std::move(options)),
      ranks_(ranks ? team(std::move(*ranks), options_.rank_timeout) : team()),
      policy_(options_.when, store.location()),
      record_(options_.on_event),
      staging_([this](const leaf& whole, std::size_t bytes) { return room_to_encode(whole, bytes, options_.codecs); }),
      history_(std::move(store), options_, ranks_,
               [this](const event& what) {
                 if (what.what == event::kind::pruned) record_.count([](save_stats& all) { ++all.pruned; });
                 record_.emit(what);
               }),
      background_(options_.cores) {
  policy_.set_copies(history_.copies());
  check_options(options_, this->store().levels() != nullptr);
  if (options_.rank_timeout.count() <= 0) fail(errc::invalid, {"rank_timeout is not above 0"});
  if (!ranks_.is_alone() && options_.rank_timeout <= this->store().lease())
    fail(errc::invalid, {"rank_timeout is not above the lease of ", this->store().location(),
                         ", for which the others wait where the owner of the place has died"});
  if (history_.hosts() && options_.chain.merge)
    fail(errc::invalid, {"chain.merge is given: on the disks of the hosts no rank has all shards"});
  if (!ranks_.is_alone() && options_.shards != 0)
    fail(errc::invalid, {"shards is ", options_.shards, ": in a group each rank writes one shard"});
  if (!ranks_.is_alone() && options_.max_staging_bytes)
    fail(errc::invalid, {"max_staging_bytes is given: in a group each rank copies its whole share"});
}

session::~session() {
  end_rounds();
  if (options_.on_destruction == when_destroyed::cancel) limiter_.cancel();
  wait_for_background();
  if (auto* const copies = history_.copies();
      copies && !(history_.hosts() && !ranks_.is_alone()) && options_.on_destruction == when_destroyed::finish)
    static_cast<void>(copies->finish(infinite()));
}

/// In the first call: compares the options of the ranks, and learns their weights. The round before that finds a rank
/// that has left by an exception.
void session::meet() {
  if (has_met_) return;
  begin_round("the first call");
  end_round();
  ranks_.require_same("the options", common_options(store(), options_));
  shares_.set_weights(ranks_.all_gather(options_.rank_weight));
  history_.meet();
  has_met_ = true;
}

void session::wait() {
  enter("wait");
  if (store().levels()) {
    const double longest = history_.hosts() ? 0.02 : 1;  // see complete_copies
    while (!ranks_.from_leader([&] { return history_.copies()->finish(longest); }))
      if (history_.hosts()) run_rounds("wait");
  }
  if (const auto failure = std::exchange(kept_failure_, std::nullopt)) throw error(*failure);
}

void session::progress() {
  check_owner();
  try {
    if (!ranks_.is_alone()) static_cast<void>(ranks_.test_round());
    pass_messages();
  } catch (const error&) {  // the next call throws it
  }
}

/// Restores, and continues the run from there, or begins it. `call`: its name.
std::optional<load_report> session::restore(const std::string& call, const restore_choice& choice,
                                            any_mutable_state state, const load_options& options) {
  enter(call);
  auto how = options;
  // The sizes of a saved or restored state are those of this run, and so are other ones in its checkpoints.
  if (has_run_) how.reshape = or_resize(std::move(how.reshape));
  auto report = with_errors(store().location() + " cannot be restored",
                            [&] { return history_.restore(state, std::move(how), choice); });
  // The state has changed: no error fails the restore.
  is_loss_finite_ = true;
  if (report) {
    has_run_ = true;
    note_losses(*report, state, options);
    record_.set_newest({.step = report->step});
    policy_.restored(*report, record_);
  }
  const policy_driver::pause reserving(policy_);
  reserve_staging(state);
  return report;
}

/// Notes what the arrays of the state have lost: those that this and earlier restores loaded, the others as before.
void session::note_losses(const load_report& report, any_state state, const load_options& options) noexcept {
  if (report.restored.empty() && earlier_losses_.empty()) return;
  try {
    const std::set<std::string_view> loaded(report.loaded.begin(), report.loaded.end());
    restored_losses losses;
    for (const auto& each : describe(state).leaves) {
      const auto stored = options.rename ? options.rename(each.path) : each.path;
      const bool was_loaded = loaded.contains(stored);
      const auto& known = was_loaded ? report.restored : earlier_losses_;
      const auto at = known.find(was_loaded ? stored : each.path);
      if (at != known.end()) losses.emplace(each.path, at->second);
    }
    earlier_losses_ = std::move(losses);
  } catch (...) {  // the first save describes the state again, and fails
  }
}

std::vector<removal> session::retention_plan() {
  check_owner();
  if (!is_sending()) wait_for_background();  // that waits for messages, and changes nothing here
  return history_.checkpoints().retention_plan();
}

std::uint64_t session::remove_after(std::uint64_t step) {
  const policy_driver::pause removing(policy_);
  enter("remove_after(" + std::to_string(step) + ")");
  const auto removed = ranks_.from_leader([&] { return history_.remove_after(step); });
  if (auto* const hosts = history_.hosts()) {
    const auto kept = ranks_.from_leader([&] { return hosts->publications({}); });
    ranks_.all([&] { hosts->keep_only(kept); });
  }
  continue_at(step);
  return removed;
}

/// The policy counts from `step` where the last save was later.
void session::continue_at(std::uint64_t step) {
  if (policy_.saved_step() <= step) return;
  const double now = policy_.seconds();
  record_.set_newest({.step = step, .seconds = now});
  policy_.set_newest({.step = step, .began = now, .copied = now});
}

/// Reports a loss that is not finite, unless the one before was not either.
void session::check_loss(const observation& now) {
  if (!now.loss) return;
  const bool was_finite = std::exchange(is_loss_finite_, is_finite(*now.loss));
  if (is_loss_finite_ || !was_finite) return;
  record_.emit({.what = event::kind::not_finite,
                .checkpoint = store().location(),
                .step = now.step,
                .message = sentence({"the loss of step ", now.step, is_nan(*now.loss) ? " is NaN" : " is infinite",
                                     "; restore_finite restores the newest checkpoint whose loss is finite"})});
}

/// Throws errc::stale at the leader for a step below that of the newest checkpoint, or of the running save. Where
/// `on_older_step` allows it, the policy of each rank counts from the step before.
void session::check_step(std::uint64_t step) {
  if (options_.on_older_step != when_older::refuse) {
    if (!work_ && step < policy_.saved_step()) continue_at(step == 0 ? 0 : step - 1);
    return;
  }
  if (!ranks_.is_leader()) return;
  auto& checkpoints = history_.checkpoints();
  if (work_) return checkpoints.refuse_earlier(step, policy_.saved_step());
  try {
    checkpoints.refuse_earlier(step, checkpoints.newest_step_for(step));
  } catch (const error& cause) {
    if (cause.code() == errc::stale) throw;  // else the store cannot be listed: a save will report that
  }
}

step_outcome session::step(any_state state, const observation& now) {
  check_owner();
  check_loss(now);
  meet();
  const auto call = "step " + std::to_string(now.step);
  if (ranks_.is_alone()) begin_round(call);  // its own verdict at once
  verdict last;
  if (has_verdict()) {
    last = take_verdict();
    act_before_stop(last);
  }
  if (is_stopping_) {
    begin_round(call);  // what follows takes other collectives, which only ranks in the same call start
    last = take_verdict();
    act_before_stop(last);
    return preempt(state, now, last);
  }
  report_hang();
  const stopwatch stall;
  step_outcome outcome;
  vote mine;
  std::optional<decision> due;
  try {
    check_step(now.step);
    due = decide_together(now, last, mine);
  } catch (...) {
    own_failure_ = as_error(std::current_exception(), {call});
    const auto result = std::make_shared<save_result>();
    result->set_error(*own_failure_);
    outcome = {.started = true, .stall_seconds = stalled(stall), .save = save_handle(result)};
  }
  call_ = call;
  if (due) {
    const policy_driver::pause saving(policy_);
    outcome = save_due(state, now, due->kind, mine);
  } else if (!own_failure_) {
    reserve_staging(state);
  }
  if (!ranks_.is_alone()) {
    if (!has_verdict()) begin_round(call_, mine);
  } else if (own_failure_) {
    deferred_.reset();
    fail_together({.most = {.has_thrown = true}});
  }
  return outcome;
}

/// From now to `time`, as floats: the difference of two time points may overflow.
[[nodiscard]] inline double seconds_to(std::chrono::system_clock::time_point time) {
  using seconds = std::chrono::duration<double>;
  return (seconds(time.time_since_epoch()) - seconds(std::chrono::system_clock::now().time_since_epoch())).count();
}

/// What is best before `until`. In a group the ranks act on the decision of rank 0 at their next step.
schedule::before_end session::advise_before_end() {
  if (!options_.until || !ranks_.is_leader()) return schedule::before_end::train;
  return policy_.advise(seconds_to(*options_.until) - seconds_of_copies(), ranks_.is_alone() ? 0 : 1);
}

/// The seconds that the last copy to the slowest place took, at the leader.
double session::seconds_of_copies() const {
  double most = 0;
  if (const auto* const copies = history_.copies())
    for (const auto& each : copies->stats()) most = std::max(most, each.last_seconds);
  return most;
}

/// The seconds until the state must be saved, after a signal or before `until`.
double session::seconds_to_stop() const {
  double left = infinite();
  if (options_.preempt.received()) left = options_.preempt_deadline.count() - options_.preempt.seconds_since();
  if (options_.until) left = std::min(left, seconds_to(*options_.until));
  return left;
}

/// Asks the policy. If it throws, that counts as a failed save; but while saves pause after a failure, no save is due.
decision session::decide(const observation& now) {
  try {
    const auto decided = policy_.ask(now, work_ != nullptr);
    if (decided || work_ || advise_before_end() != schedule::before_end::measure) return decided;
    return ranks_.is_alone() || !policy_.uses_steps_alone();
  } catch (const error&) {
    if (!policy_.may_save()) return false;
    throw error(report_failure(now.step, std::current_exception()));
  }
}

/// Asks the policy: each rank's own if it uses steps alone; else the leader's, which all ranks obey at their next step.
std::optional<decision> session::decide_together(const observation& now, const verdict& last, vote& mine) {
  const bool acts_at_once = ranks_.is_alone() || policy_.uses_steps_alone();
  const auto own = ranks_.is_leader() || acts_at_once ? decide(now) : decision(false);
  if (acts_at_once) return own ? std::optional(own) : std::nullopt;
  if (last.most.save != 0) return last.save();
  if (!own || is_pausing_) return std::nullopt;
  if (work_ && options_.on_busy == when_busy::skip)
    report_skipped(now);
  else
    mine.save = own.kind ? 2 + static_cast<std::uint64_t>(*own.kind) : 1;
  return std::nullopt;
}

step_outcome session::save_due(any_state state, const observation& now, std::optional<save_kind> kind, vote& mine) {
  const stopwatch stall;
  if (!work_) is_replacing_ = false;
  if (is_pausing_ || is_skipping(now)) return {.skipped = true, .stall_seconds = stall.seconds()};
  if (work_ || !options_.asynchronous) {
    // What follows takes rounds, so all ranks first learn here whether they all begin. Where not, this rank keeps the
    // verdict and acts on it in its next call, as the others do.
    mine.copied = will_copy;
    mine.saves_copy = ranks_.is_leader();
    begin_round(call_, std::exchange(mine, {}));
    const auto last = take_verdict();
    if (!last.is_same_call() || !last.is_same_copy() || last.most.saves_copy == 0 || last.most.has_thrown != 0 ||
        last.most.leaving != 0) {
      deferred_ = last;
      return {.skipped = true};
    }
    act_on(last);
  }
  if (work_) {
    is_replacing_ = can_replace();
    if (is_replacing_)
      cancel_work("cancelled for a newer save");
    else
      run_rounds(call_, std::numeric_limits<double>::max(), true);
  }
  if (work_) return {.skipped = true, .stall_seconds = stalled(stall)};  // the next step stops
  auto save = std::make_unique<work>();
  auto result = save->result;
  if (!options_.asynchronous) {
    try {
      auto job = ranks_.all([&] { return describe_job(state, now); });
      result = save_now(make_sync_save(std::move(job), kind, false), stall);
    } catch (...) {
      const auto cause = as_error(std::current_exception(), {call_});
      if (options_.on_failure == when_failed::raise || ranks_.is_broken() || cause.code() == errc::mismatch)
        throw error(cause);
      policy_.delay_retry(false);
      result->set_error(cause);
    }
    return {.started = true, .stall_seconds = stall.seconds(), .save = save_handle(std::move(result))};
  }
  if (is_pausing_)
    return {.skipped = true, .stall_seconds = stalled(stall)};  // the save that was waited for has failed
  step_outcome outcome{.started = true, .save = save_handle(result)};
  try {
    save->kind = kind;
    copy(std::move(save), state, now, stall);
    mine.copied = work_->hash;
    mine.saves_copy = ranks_.is_leader();
    outcome.stall_seconds = work_->times.stall_seconds = stalled(stall);
    policy_.set_newest(work_->times);
  } catch (...) {
    const auto cause = as_error(std::current_exception(), {call_});
    result->set_error(ranks_.is_alone() ? cause : name_rank(ranks_.rank(), cause));
    outcome.stall_seconds = stalled(stall);
    own_failure_ = cause;
    mine.copied = will_copy;  // the copies of the others are dropped
  }
  return outcome;
}

save_report session::save(any_state state, const observation& now) {
  const policy_driver::pause saving(policy_);
  enter("save at step " + std::to_string(now.step));
  check_loss(now);
  const stopwatch stall;
  auto job = ranks_.all([&] { return describe_job(state, now); });
  auto report = save_now(make_sync_save(std::move(job), std::nullopt, true), stall)->get();
  static_cast<void>(complete_copies(infinite()));
  return report;
}

/// A signal has arrived at a rank, or the job ends soon: saves the state of this step before the deadline, raw if
/// encoding would take too long or has no memory. The leader plans for all. `wait` throws an earlier error, not this.
step_outcome session::preempt(any_state state, const observation& now, const verdict& last) {
  if (preempted_step_ == now.step) return {.stop = true};
  const stopwatch stall;
  const double left = static_cast<double>(last.least.milliseconds_left) / 1000;
  record_.emit({.what = event::kind::stopping,
                .checkpoint = store().location(),
                .step = now.step,
                .seconds = left,
                .message = reason_to_stop(static_cast<int>(last.most.signal))});
  const auto plan = ranks_.from_leader([&] {
    auto planned = plan_preempt(left, record_.newest());
    planned.grace_seconds = std::max(planned.grace_seconds - seconds_of_copies(), 0.0);
    return planned;
  });
  limiter_.remove_limit();
  try {
    run_rounds("step " + std::to_string(now.step), plan.grace_seconds);
  } catch (const error& cause) {  // of the running save, which an event has reported
    if (ranks_.is_broken() || work_) throw;
    kept_failure_ = cause;
  }
  const auto job = ranks_.all([&] { return describe_job(state, now); });
  auto save = make_sync_save(job, plan.as_raw ? std::optional(save_kind::raw) : std::nullopt, true);
  try {
    ranks_.all([&] { std::ignore = fit_save(*save, 0); });
  } catch (...) {  // a rank has no memory to encode even a part
    if (ranks_.is_broken()) throw;
    save = make_sync_save(job, save_kind::raw, true);
  }
  const auto earlier = kept_failure_;
  auto result = save_now(std::move(save), stall);
  complete_copies_before(left - stall.seconds(), now.step);
  learn();
  kept_failure_ = earlier;
  preempted_step_ = now.step;
  return {.started = true, .stop = true, .stall_seconds = stall.seconds(), .save = save_handle(std::move(result))};
}

/// Adds the seconds since `since` to the stall statistics, and returns them.
double session::stalled(const stopwatch& since) {
  const double seconds = since.seconds();
  record_.count([&](save_stats& all) { all.stalled(seconds); });
  return seconds;
}

}  // namespace cairn::inline v0_1::detail
