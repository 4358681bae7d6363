// SPDX-License-Identifier: MIT
// Definitions of session.hpp: what the trainer calls.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "cairn/chain/leaf_encoder.hpp"
#include "cairn/chain/merge_hook.hpp"
#include "cairn/core/as_error.hpp"
#include "cairn/core/float_bits.hpp"
#include "cairn/run/session.hpp"
#include "cairn/state/describe.hpp"

namespace cairn::inline v0_1::detail {

/// Throws errc::invalid for options that are out of range or would do nothing.
inline void check_options(const checkpointer_options& options) {
  constexpr std::uint64_t least_staging_bytes = std::uint64_t{1} << 20U;
  const auto invalid = [](std::string_view option, const std::string& why) { fail(errc::invalid, {option, " ", why}); };
  if (options.max_staging_bytes && *options.max_staging_bytes < least_staging_bytes)
    invalid("max_staging_bytes", "is " + std::to_string(*options.max_staging_bytes) + ", below 1 MiB");
  if (options.max_bytes_per_second && !is_positive(*options.max_bytes_per_second))
    invalid("max_bytes_per_second", "is " + std::to_string(*options.max_bytes_per_second) + ", not above 0");
  if (options.chain.anchor_every == std::size_t{0})
    invalid("chain.anchor_every", "is 0: 1 makes every checkpoint whole, std::nullopt only the first");
  if (options.chain.merge_every && *options.chain.merge_every < 2)
    invalid("chain.merge_every", "is below 2: std::nullopt never merges");
  if (options.chain.merge_every && known_merge == nullptr)
    invalid("chain.merge_every", "needs merging: #include <cairn/merge.hpp>");
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
  if (options.chain.merge_every && !options.chain.anchor_every && !options.chain.merge_to_whole)
    invalid("chain.merge_every",
            "merges deltas into deltas, and without chain.anchor_every their chain grows without bound: set that, or "
            "chain.merge_to_whole");
  if (options.chain.merge_to_whole && !options.chain.merge_every)
    invalid("chain.merge_to_whole", "is true without chain.merge_every");
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
  if (options.chain.merge_every) return;  // merges run in the background in any case
  check_unused(options.cores.empty(), "cores");
  check_unused(options.background_threads == defaults.background_threads, "background_threads");
  check_unused(options.on_destruction == defaults.on_destruction, "on_destruction");
  check_unused(!options.hang_timeout, "hang_timeout");
}

session::session(any_store store, checkpointer_options options, std::optional<any_group> ranks)
    : options_(std::move(options)),
      ranks_(ranks ? team(std::move(*ranks), options_.rank_timeout) : team()),
      policy_(options_.when, store.location()),
      record_(options_.on_event),
      staging_([this](const leaf& whole, std::size_t bytes) { return room_to_encode(whole, bytes, options_.codecs); }),
      series_(std::move(store), options_, ranks_,
              [this](const event& what) {
                if (what.what == event::kind::pruned) record_.count([](save_stats& all) { ++all.pruned; });
                record_.emit(what);
              }),
      background_(options_.cores) {
  check_options(options_);
  if (options_.rank_timeout.count() <= 0) fail(errc::invalid, {"rank_timeout is not above 0"});
  if (!ranks_.is_alone() && options_.shards != 0)
    fail(errc::invalid, {"shards is ", options_.shards, ": in a group each rank writes one shard"});
  if (!ranks_.is_alone() && options_.max_staging_bytes)
    fail(errc::invalid, {"max_staging_bytes is given: in a group each rank copies its whole share"});
  exceptions_ = std::uncaught_exceptions();
}

session::~session() {
  end_rounds();
  if (options_.on_destruction == when_destroyed::cancel) limiter_.cancel();
  wait_for_background();
}

std::optional<load_report> session::restore(any_mutable_state state, const load_options& options) {
  enter("restore");
  auto report = with_errors(store().location() + " cannot be restored",
                            [&] { return series_.restore(state, for_restore(options)); });
  continue_from(report, state, options);
  return report;
}

std::optional<load_report> session::restore_best(any_mutable_state state, std::optional<metric_order> order,
                                                 const load_options& options) {
  enter("restore_best");
  if (!order && options_.keep_best) order = {options_.keep_best->metric, options_.keep_best->lower_is_better};
  return restore_by(state, order.value_or(metric_order{}), options);
}

std::optional<load_report> session::restore_finite(any_mutable_state state, const load_options& options) {
  enter("restore_finite");
  return restore_by(state, std::nullopt, options);
}

std::optional<load_report> session::restore_by(any_mutable_state state, const std::optional<metric_order>& order,
                                               const load_options& options) {
  auto report = with_errors(store().location() + " cannot be restored",
                            [&] { return series_.restore_by(state, order, for_restore(options)); });
  continue_from(report, state, options);
  return report;
}

/// Continues the run from the restored checkpoint, or begins it. The state has changed: what fails here does not make the restore fail.
void session::continue_from(const std::optional<load_report>& report, any_state state, const load_options& options) {
  is_loss_finite_ = true;
  if (report) {
    has_run_ = true;
    note_losses(*report, state, options);
    record_.published({.step = report->step});
    policy_.restored(*report, record_);
  }
  const policy_driver::pause preparing(policy_);
  prepare(state);
}

void session::wait() {
  enter("wait");
  if (const auto failure = std::exchange(kept_failure_, std::nullopt)) throw error(*failure);
}

std::vector<removal> session::retention_plan() {
  check_owner();
  wait_for_background();
  return series_.checkpoints().retention_plan();
}

std::uint64_t session::remove_after(std::uint64_t step) {
  const policy_driver::pause removing(policy_);
  enter("remove_after(" + std::to_string(step) + ")");
  const auto removed = ranks_.from_leader([&] { return series_.remove_after(step); });
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

/// Throws errc::stale for a step below that of the newest checkpoint, or of the running save. Where `on_older_step` allows it, the policy
/// counts from the step before.
void session::check_step(std::uint64_t step) {
  if (options_.on_older_step != when_older::refuse) {
    if (!saving_ && step < policy_.saved_step()) continue_at(step == 0 ? 0 : step - 1);
    return;
  }
  auto& checkpoints = series_.checkpoints();
  if (saving_) return checkpoints.refuse_earlier(step, policy_.saved_step());
  try {
    checkpoints.refuse_earlier(step, checkpoints.newest_step_for(step));
  } catch (const error& cause) {
    if (cause.code() == errc::stale) throw;  // else the store cannot be listed: a save will report that
  }
}

step_outcome session::step(any_state state, const observation& now) {
  check_owner();
  check_loss(now);
  if (!ranks_.is_alone()) return step_together(state, now);
  check_step(now.step);
  if (poll() || advise_before_end() == schedule::before_end::stop) return preempt(state, now);
  collect_background_result();
  report_hang();
  const stopwatch stall;
  try {
    const auto decided = decide(now);
    if (!decided) {
      prepare(state);
      return {};
    }
    const policy_driver::pause saving(policy_);
    return save_due(state, now, decided.kind);
  } catch (const error& cause) {
    if (options_.on_failure == when_failed::raise) throw;
    policy_.delay_retry(false);
    const auto progress = std::make_shared<save_progress>();
    progress->failed(cause);
    return {.started = true, .stall_seconds = stalled(stall), .save = save_handle(progress)};
  }
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

/// Asks the policy. If it throws, that counts as a failed save, except while saves pause after a failure: then no save is due.
decision session::decide(const observation& now) {
  try {
    const auto decided = policy_.ask(now, saving_);
    if (decided || saving_ || advise_before_end() != schedule::before_end::measure) return decided;
    return ranks_.is_alone() || !policy_.uses_steps_alone();
  } catch (const error&) {
    if (!policy_.may_save()) return false;
    throw error(failed(now.step, std::current_exception()));
  }
}

step_outcome session::save_due(any_state state, const observation& now, std::optional<save_kind> kind) {
  const stopwatch stall;
  // Asked twice: the save that `resolve_busy` waits for may fail, after which saves pause.
  if (!policy_.may_save() || (options_.asynchronous && !resolve_busy(now)) || !policy_.may_save())
    return {.skipped = true, .stall_seconds = stall.seconds()};
  if (!options_.asynchronous) {
    const auto progress = std::make_shared<save_progress>();
    enter("step");  // waits for a merge
    progress->published(save_sync(state, now, kind, false));
    return {.started = true, .stall_seconds = stall.seconds(), .save = save_handle(progress)};
  }
  const auto save = save_async(state, now, kind);
  save->times.stall_seconds = stalled(stall);
  policy_.set_newest(save->times);
  return {.started = true, .stall_seconds = save->times.stall_seconds, .save = save_handle(save->progress)};
}

save_report session::save(any_state state, const observation& now) {
  const policy_driver::pause saving(policy_);
  enter("save at step " + std::to_string(now.step));
  check_loss(now);
  if (!ranks_.is_alone()) return save_together(state, now);
  return save_sync(state, now, std::nullopt, true);
}

/// Adds the seconds since `since` to the stall statistics, and returns them.
double session::stalled(const stopwatch& since) {
  const double seconds = since.seconds();
  record_.count([&](save_stats& all) { all.stalled(seconds); });
  return seconds;
}

}  // namespace cairn::inline v0_1::detail
