// SPDX-License-Identifier: MIT
// Definitions of session.hpp: what the trainer calls.
#pragma once

#include <algorithm>
#include <chrono>

#include "cairn/run/check_options.hpp"
#include "cairn/core/as_error.hpp"
#include "cairn/core/float_bits.hpp"
#include "cairn/run/preempt_plan.hpp"
#include "cairn/run/session.hpp"
#include "cairn/run/session_votes.ipp"
#include "cairn/state/describe.hpp"

namespace cairn::inline v0_1::detail {

session::session(any_store store, checkpointer_options options, std::optional<any_group> ranks)
    : options_(std::move(options)),
      ranks_(ranks ? team(std::move(*ranks), options_.rank_timeout) : team()),
      policy_(options_.when, store.location()),
      staging_([this](const leaf& whole, std::size_t bytes) { return room_to_encode(whole, bytes, options_.codecs); }),
      history_(std::move(store), options_, ranks_,
               [this](const event& what) {
                 if (what.what == event::kind::pruned) record_.count([](save_stats& all) { ++all.pruned; });
                 record_.emit(what);
               }),
      record_(options_.on_event),
      background_(options_.cores) {
  check_options(options_);
  if (options_.rank_timeout.count() <= 0) fail(errc::invalid, {"rank_timeout is not above 0"});
  if (!ranks_.is_alone() && options_.shards != 0)
    fail(errc::invalid, {"shards is ", options_.shards, ": in a group each rank writes one shard"});
  if (!ranks_.is_alone() && options_.max_staging_bytes)
    fail(errc::invalid, {"max_staging_bytes is given: in a group each rank copies its whole share"});
}

session::~session() {
  end_rounds();
  if (options_.on_destruction == when_destroyed::cancel) limiter_.cancel();
  wait_for_background();
}

void session::wait() {
  enter("wait");
  if (const auto failure = std::exchange(kept_failure_, std::nullopt)) throw error(*failure);
}

std::vector<removal> session::retention_plan() {
  check_owner();
  wait_for_background();
  return history_.checkpoints().retention_plan();
}

std::uint64_t session::remove_after(std::uint64_t step) {
  const policy_driver::pause removing(policy_);
  enter("remove_after(" + std::to_string(step) + ")");
  const auto removed = ranks_.from_leader([&] { return history_.remove_after(step); });
  continue_at(step);
  return removed;
}

/// The policy counts from `step` where the last save was later.
void session::continue_at(std::uint64_t step) {
  if (policy_.saved_step() <= step) return;
  const double now = policy_.seconds();
  record_.published({.step = step, .seconds = now});
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

/// Throws errc::stale for a step below that of the newest checkpoint, or of the running save. Where `on_older_step`
/// allows it, the policy counts from the step before.
void session::check_step(std::uint64_t step) {
  if (options_.on_older_step != when_older::refuse) {
    if (!work_ && step < policy_.saved_step()) continue_at(step == 0 ? 0 : step - 1);
    return;
  }
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
    if (ranks_.is_leader()) check_step(now.step);
    due = decide_together(now, last, mine);
  } catch (...) {
    own_failure_ = as_error(std::current_exception(), {call});
    const auto progress = std::make_shared<save_progress>();
    progress->failed(*own_failure_);
    outcome = {.started = true, .stall_seconds = stalled(stall), .save = save_handle(progress)};
  }
  call_ = call;
  if (due) {
    const policy_driver::pause saving(policy_);
    outcome = save_due(state, now, due->kind, mine);
  } else if (!own_failure_) {
    prepare(state);
  }
  if (!ranks_.is_alone()) {
    if (!has_verdict()) begin_round(call_, mine);
  } else if (own_failure_) {
    deferred_.reset();
    fail_together({.has_thrown = true});
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
  return policy_.advise(seconds_to(*options_.until), ranks_.is_alone() ? 0 : 1);
}

/// Until the state must be saved, after a signal or before `until`.
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
    throw error(failed(now.step, std::current_exception()));
  }
}

/// Asks the policy: each rank's own if it uses steps alone; else the leader's, which all ranks obey at their next step.
std::optional<decision> session::decide_together(const observation& now, const verdict& last, vote& mine) {
  const bool acts_at_once = ranks_.is_alone() || policy_.uses_steps_alone();
  const auto own = ranks_.is_leader() || acts_at_once ? decide(now) : decision(false);
  if (acts_at_once) return own ? std::optional(own) : std::nullopt;
  if (last.save) return last.save;
  if (!own || is_pausing_) return std::nullopt;
  if (work_ && options_.on_busy == when_busy::skip)
    report_skipped(now);
  else
    mine.save = own;
  return std::nullopt;
}

step_outcome session::save_due(any_state state, const observation& now, std::optional<save_kind> kind, vote& mine) {
  const stopwatch stall;
  if (!work_) is_replacing_ = false;
  if (is_pausing_ || is_skipping(now)) return {.skipped = true, .stall_seconds = stall.seconds()};
  if (work_ || !options_.asynchronous) {
    // What follows takes rounds, which all ranks begin, or none: not one that has failed. It leaves this round under
    // way; so the others act on its verdict at their next call, too.
    mine.copied = will_copy;
    mine.saves_copy = ranks_.is_leader();
    begin_round(call_, std::exchange(mine, {}));
    const auto last = take_verdict();
    if (!last.is_same_call || !last.is_same_copy || !last.saves_copy || last.has_thrown || last.leaving) {
      deferred_ = last;
      return {.skipped = true};
    }
    act_on(last);
  }
  if (work_) replace_work();
  auto save = std::make_unique<work>();
  auto progress = save->progress;
  if (!options_.asynchronous) {
    try {
      auto job = ranks_.all([&] { return describe_job(state, now); });
      progress = save_now(make_save(std::move(job), kind, false), stall);
    } catch (...) {
      const auto cause = as_error(std::current_exception(), {call_});
      if (options_.on_failure == when_failed::raise || ranks_.is_broken() || cause.code() == errc::mismatch)
        throw error(cause);
      policy_.delay_retry(false);
      progress->failed(cause);
    }
    return {.started = true, .stall_seconds = stall.seconds(), .save = save_handle(std::move(progress))};
  }
  if (is_pausing_)
    return {.skipped = true, .stall_seconds = stalled(stall)};  // the save that was waited for has failed
  step_outcome outcome{.started = true, .save = save_handle(progress)};
  try {
    save->kind = kind;
    copy(std::move(save), state, now, stall);
    mine.copied = work_->hash;
    mine.saves_copy = ranks_.is_leader();
    outcome.stall_seconds = work_->times.stall_seconds = stalled(stall);
    policy_.set_newest(work_->times);
  } catch (...) {
    const auto cause = as_error(std::current_exception(), {call_});
    progress->failed(ranks_.is_alone() ? cause : ranks_.named(cause));
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
  return save_now(make_save(std::move(job), std::nullopt, true), stall)->get();
}

/// A signal has arrived at a rank, or the job ends soon: saves the state of this step before the deadline, raw if
/// encoding would take too long or has no memory. The leader plans for all. `wait` throws an earlier error, not this.
step_outcome session::preempt(any_state state, const observation& now, const verdict& last) {
  if (preempted_step_ == now.step) return {.stop = true};
  const stopwatch stall;
  const double left = static_cast<double>(last.milliseconds_left) / 1000;
  record_.emit({.what = event::kind::stopping,
                .checkpoint = store().location(),
                .step = now.step,
                .seconds = left,
                .message = reason_to_stop(last.signal)});
  const auto plan = ranks_.from_leader([&] {
    std::uint64_t bytes = 0;
    for (const auto& each : describe(state).leaves) bytes += each.bytes();
    return plan_preempt(left, bytes, record_.newest());
  });
  limiter_.remove_limit();
  try {
    run_rounds("step " + std::to_string(now.step), plan.grace_seconds);
  } catch (const error& cause) {  // of the running save, which an event has reported
    if (ranks_.is_broken() || work_) throw;
    kept_failure_ = cause;
  }
  const auto job = ranks_.all([&] { return describe_job(state, now); });
  auto save = make_save(job, plan.as_raw ? std::optional(save_kind::raw) : std::nullopt, true);
  if (!ranks_.from_leader([&] { return has_memory_to_encode(*job); })) save = make_save(job, save_kind::raw, true);
  const auto earlier = kept_failure_;
  auto progress = save_now(std::move(save), stall);
  learn();
  kept_failure_ = earlier;
  preempted_step_ = now.step;
  return {.started = true, .stop = true, .stall_seconds = stall.seconds(), .save = save_handle(std::move(progress))};
}

/// Adds the seconds since `since` to the stall statistics, and returns them.
double session::stalled(const stopwatch& since) {
  const double seconds = since.seconds();
  record_.count([&](save_stats& all) { all.stalled(seconds); });
  return seconds;
}

}  // namespace cairn::inline v0_1::detail
