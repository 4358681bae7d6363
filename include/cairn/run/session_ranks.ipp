// SPDX-License-Identifier: MIT
// Definitions of session.hpp: a checkpointer of several ranks.
//
// Each call begins a round, in which all ranks vote (vote.hpp). `step` leaves its round under way and takes its verdict at the next call; the other
// calls run rounds until no save is left in the background. What the ranks do together follows from verdicts alone, so they do it in the same order. A
// save in the background takes these steps:
//
// 1. All ranks copy their shares: at once if the policy uses steps alone, else in the call after the one in which the leader has decided.
// 2. The leader begins the checkpoint in its background thread. When it is begun, the others get what they need to join it.
// 3. All ranks encode and write their shares in their background threads.
// 4. When all have written, the leader gathers small records of the shares, and publishes in its background thread.
// 5. When it is published, the save ends at all ranks.
//
// A merge that is then due takes steps 2 to 5, too.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "cairn/core/as_error.hpp"
#include "cairn/run/preempt_plan.hpp"
#include "cairn/run/session.hpp"
#include "cairn/run/rank_rounds.ipp"
#include "cairn/run/session.ipp"
#include "cairn/state/describe.hpp"

namespace cairn::inline v0_1::detail {

step_outcome session::step_together(any_state state, const observation& now) {
  meet();
  const auto call = "step " + std::to_string(now.step);
  verdict last;
  if (has_verdict()) {
    last = take_verdict();
    act_before_stop(last);
  }
  if (is_stopping_) {
    begin_round(call);  // what follows takes other collectives, which only ranks in the same call start
    last = take_verdict();
    act_before_stop(last);
    return preempt_together(state, now, last);
  }
  report_hang();
  vote mine;
  std::optional<decision> due;
  try {
    if (ranks_.is_leader()) check_step(now.step);
    due = decide_together(now, last, mine);
  } catch (...) {
    own_failure_ = as_error(std::current_exception(), "step " + std::to_string(now.step));
  }
  call_ = call;
  step_outcome outcome;
  if (due) {
    const policy_driver::pause saving(policy_);
    outcome = save_due_together(state, now, due->kind, mine);
  } else {
    prepare(state);
  }
  if (!has_verdict()) begin_round(call_, mine);
  return outcome;
}

/// Acts on a verdict. After a signal the state is saved before the error of an earlier save is thrown.
void session::act_before_stop(const verdict& last) {
  try {
    act_on(last);
  } catch (const error& cause) {
    if (!is_stopping_ || ranks_.is_broken() || cause.code() == errc::mismatch) throw;
    kept_failure_ = cause;
  }
}

/// Asks the policy: that of each rank if it uses steps alone; else that of the leader, which all ranks obey at their next step.
std::optional<decision> session::decide_together(const observation& now, const verdict& last, vote& mine) {
  const bool is_asked = ranks_.is_leader() || policy_.uses_steps_alone();
  const auto own = is_asked ? decide(now) : decision(false);
  if (policy_.uses_steps_alone()) return own ? std::optional(own) : std::nullopt;
  if (last.save) return last.save;
  if (!own || is_pausing_) return std::nullopt;
  if (joint_ && options_.on_busy == when_busy::skip)
    report_skipped(now);
  else
    mine.save = own;
  return std::nullopt;
}

bool session::can_replace_joint_save() const {
  return options_.on_busy == when_busy::replace && joint_->phase != save_phase::publishing;
}

/// Whether a save or merge runs that the new save neither waits for nor replaces. The same at all ranks, as the phase of the running one is.
bool session::skips_joint_save(const observation& now) {
  if (!joint_ || !options_.asynchronous || options_.on_busy == when_busy::wait ||
      (can_replace_joint_save() && !is_replacing_))
    return false;
  report_skipped(now);
  return true;
}

/// Cancels the running save, or waits for it, as the options say.
void session::replace_joint_save() {
  is_replacing_ = can_replace_joint_save();
  if (is_replacing_)
    drop_joint_save({errc::cancelled, "cancelled for a newer save"});
  else
    run_rounds(call_);
}

step_outcome session::save_due_together(any_state state, const observation& now, std::optional<save_kind> kind,
                                        vote& mine) {
  const stopwatch stall;
  if (!joint_) is_replacing_ = false;
  if (is_pausing_ || skips_joint_save(now)) return {.skipped = true};
  if (joint_ || !options_.asynchronous) {
    // What follows takes rounds, which all ranks begin, or none: not one that has failed. It leaves this round under way; so the others act on its
    // verdict at their next call, too.
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
  if (joint_) replace_joint_save();
  if (!options_.asynchronous) {
    const auto progress = std::make_shared<save_progress>();
    try {
      progress->published(save_now_together(state, now, kind, false));
    } catch (const error& cause) {
      if (options_.on_failure == when_failed::raise || ranks_.is_broken() || cause.code() == errc::mismatch) throw;
      policy_.delay_retry(false);
      progress->failed(cause);
      return {.started = true, .stall_seconds = stall.seconds(), .save = save_handle(progress)};
    }
    static_cast<void>(begin_joint_merge());
    return {.started = true, .stall_seconds = stall.seconds(), .save = save_handle(progress)};
  }
  if (is_pausing_)
    return {.skipped = true, .stall_seconds = stalled(stall)};  // the save that was waited for has failed
  step_outcome outcome{.started = true};
  try {
    copy_share(state, now, kind, stall);
    mine.copied = joint_->hash;
    mine.saves_copy = ranks_.is_leader();
    outcome.save = save_handle(joint_->save->progress);
    outcome.stall_seconds = joint_->save->times.stall_seconds = stalled(stall);
    policy_.set_newest(joint_->save->times);
  } catch (const error& cause) {
    const auto progress = std::make_shared<save_progress>();
    progress->failed(ranks_.named(cause));
    outcome.save = save_handle(progress);
    own_failure_ = cause;
    mine.copied = will_copy;  // the copies of the others are dropped
  }
  return outcome;
}

// Saves that the trainer waits for.

/// A save on which all ranks agree.
struct session::agreed_save {
  std::shared_ptr<save_job> job;
  std::shared_ptr<const plan::partition> plan;
};

session::agreed_save session::agree_on_save(any_state state, const observation& now, std::optional<save_kind> kind,
                                            bool ends_run) {
  agreed_save made;
  made.job = ranks_.all([&] { return make_job(state, now, kind, ends_run); });
  const auto& job = *made.job;
  made.plan = ranks_.all([&] { return shares_.plan_for(job, series_.extends_chain(job)); });
  if (!ranks_.is_same(agreement_hash(job, *made.plan, series_.deltas_to_merge()))) {
    forget_chain();
    ranks_.require_same_list("the state", common_texts(job));
    fail(errc::mismatch, {"the ranks have different plans of the save; the next one is whole"});
  }
  return made;
}

save_report session::save_now_together(any_state state, const observation& now, std::optional<save_kind> kind,
                                       bool ends_run) {
  const stopwatch stall;
  const auto agreed = agree_on_save(state, now, kind, ends_run);
  auto report = run_sync(agreed.job, kind, stall, agreed.plan.get());
  stalled(stall);
  return report;
}

/// The `save` of a group of ranks.
save_report session::save_together(any_state state, const observation& now) {
  const stopwatch stall;
  const auto agreed = agree_on_save(state, now, std::nullopt, true);
  if (const auto same = find_same_together(*agreed.job)) {
    if (ranks_.is_leader()) series_.note_end(*agreed.job);
    stalled(stall);
    return *same;
  }
  auto report = run_sync(agreed.job, std::nullopt, stall, agreed.plan.get());
  stalled(stall);
  static_cast<void>(begin_joint_merge());
  return report;
}

/// As `find_same`, of all ranks: each compares its share.
std::optional<save_report> session::find_same_together(const save_job& job) {
  const auto has_delta = [&] { return newest_delta_ && series_.newest() == newest_delta_->checkpoint; };
  enum class published { no, delta, maybe_whole };
  const auto found = ranks_.from_leader([&] {
    if (!has_delta() || newest_delta_->checkpoint.name != job.name) return published::maybe_whole;
    return says_all(newest_delta_->info, job.info) && is_published(store(), newest_delta_->checkpoint)
               ? published::delta
               : published::no;
  });
  if (found == published::no) return std::nullopt;
  if (found == published::maybe_whole)
    return with_failures_counted([&] { return series_.find_published_together(job); });
  const bool is_same = ranks_.all([&] {
    const auto plan = shares_.last_for(job);
    if (!has_delta() || !plan) return false;
    state_sum sum(job.what);
    sum.add(job.what.leaves, from_leaves<staged_piece>({share_of(job, *plan, ranks_.rank())}));
    return sum.value() == newest_delta_->sum;
  });
  const auto all = ranks_.all_gather(is_same);
  return std::count(all.begin(), all.end(), std::uint64_t{0}) == 0 ? std::optional(newest_delta_->report)
                                                                   : std::nullopt;
}

/// As `preempt`: a signal has arrived at some rank, or the job ends soon. The leader plans for all.
step_outcome session::preempt_together(any_state state, const observation& now, const verdict& last) {
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
  } catch (const error&) {  // of the running save, which an event has reported
    if (ranks_.is_broken() || joint_) throw;
  }
  const auto kind = plan.as_raw ? std::optional(save_kind::raw) : std::nullopt;
  const auto progress = std::make_shared<save_progress>();
  progress->published(save_now_together(state, now, kind, true));
  preempted_step_ = now.step;
  return {.started = true, .stop = true, .stall_seconds = stall.seconds(), .save = save_handle(progress)};
}

}  // namespace cairn::inline v0_1::detail
