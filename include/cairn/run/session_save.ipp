// SPDX-License-Identifier: MIT
// Definitions of session.hpp: the saves that the training thread starts.
#pragma once

#include <algorithm>
#include <chrono>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "cairn/run/own_state.hpp"
#include "cairn/run/preempt_plan.hpp"
#include "cairn/run/state_sum.hpp"
#include "cairn/run/session.hpp"
#include "cairn/state/describe.hpp"
#include "cairn/store/index.hpp"

namespace cairn::inline v0_1::detail {

/// Describes the state and builds the job of its save from the options and the kind that the policy has chosen.
std::shared_ptr<save_job> session::make_job(any_state state, const observation& now, std::optional<save_kind> kind,
                                            bool ends_run) {
  auto job = std::make_shared<save_job>();
  try {
    job->name = checkpoint_name(now.step);
    job->what = describe(state, {ranks_.rank(), ranks_.size()}, store().location() + '/' + job->name);
    if (!ranks_.is_alone()) {
      separate_own(*job, ranks_.rank());
      const auto leaves = common_leaves(*job);
      if (options_.replica_check != replica_check::off)
        job->sample = hashes_of(leaves, sample_pieces(leaves, now.step));
    }
  } catch (...) {
    throw error(failed(now.step, std::current_exception()));
  }
  job->info = {now.step, now.metrics, policy_.notes(now.step, ends_run, record_), options_.metadata};
  for (const auto& each : job->what.leaves)
    if (const auto at = earlier_losses_.find(each.path); at != earlier_losses_.end()) job->restored.insert(*at);
  if (now.loss) job->info.metrics["loss"] = *now.loss;
  job->codecs = options_.codecs;
  job->chain = options_.chain;
  if (kind == save_kind::whole) job->chain.anchor_every = 1;
  if (kind == save_kind::raw) save_raw(*job);
  job->threads = options_.threads;
  has_run_ = true;
  return job;
}

/// Notes what the arrays of the state have lost: those that were loaded by this restore and earlier ones, the others as before.
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

/// Stores the state as it is, and as a whole checkpoint.
void session::save_raw(save_job& job) {
  job.codecs = {{"*", raw_codec()}};
  job.chain.anchor_every = 1;
}

/// Counts and reports a save that failed in the training thread, and returns its error.
error session::failed(std::uint64_t step, const std::exception_ptr& cause) {
  record_.count([](save_stats& all) { ++all.failed; });
  return series_.failed(series_.about(event::kind::failed, step), cause);
}

/// The save of `job` runs in the background: it can be cancelled, and is held back by the limit on bytes per second.
void session::set_background_hooks(save_job& job) {
  job.threads = options_.background_threads;
  job.hooks.check = [this] {
    record_.touch();
    limiter_.check();
  };
  job.hooks.progress = [this, report = progress_of(job)](std::uint64_t bytes, std::uint64_t total) {
    limiter_.wait_until_allowed(bytes);
    record_.touch();
    report(bytes, total);
  };
}

/// Copies the state and starts the save of the copy. What fails here is thrown at once.
std::shared_ptr<session::async_save> session::save_async(any_state state, const observation& now,
                                                         std::optional<save_kind> kind) {
  const stopwatch stall;
  const auto save = std::make_shared<async_save>();
  save->job = make_job(state, now, kind, false);
  save->kind = kind;
  auto& job = *save->job;
  set_background_hooks(job);
  record_.emit(series_.about(event::kind::started, job));
  limiter_.begin(options_.max_bytes_per_second);
  try {
    stage(save, plan_copy(job), stall);
  } catch (...) {
    const auto cause = std::current_exception();
    wait_for_background();
    series_.cancel();
    saving_ = false;
    policy_.fall_back(record_);
    throw error(failed(now.step, cause));
  }
  return save;
}

/// Copies the shards and hands them to the background thread: all at once; or, where the memory for the copy is limited, one by one,
/// each as soon as the previous one is written.
void session::stage(const std::shared_ptr<async_save>& save, const staging_plan& plan, const stopwatch& stall) {
  const auto job = save->job;
  const auto count = plan.shards.size(), at_once = plan.in_parts ? 1 : count;
  if (plan.in_parts) {
    auto what = series_.about(event::kind::staged_in_parts, *job);
    what.message = "copied in " + std::to_string(count) + " parts" + plan.reason;
    record_.emit(what);
  }
  const double began = policy_.seconds();
  for (std::size_t first = 0; first < count; first += at_once) {
    if (first != 0) wait_for_background();
    if (first != 0 && !saving_) break;  // the previous part has failed
    part which{{}, count, first == 0, first + at_once >= count};
    which.shards =
        staging_.copy(job->what.leaves, std::span(plan.shards).subspan(first, at_once), options_.copy_threads);
    if (which.is_last) {
      auto what = series_.about(event::kind::copied, *job);
      what.bytes = what.total;
      what.seconds = stall.seconds();
      record_.emit(what);
    }
    if (which.is_first) {
      save->times = {.step = job->info.step, .began = plan.in_parts ? began : policy_.seconds()};
      save->times.copied = save->times.began;
      policy_.set_newest(save->times);
      is_published_ = false;
      begin_background_work();
    }
    background_.start([this, save, which = std::move(which)] { run_async(*save, which); });
  }
  if (plan.in_parts) save->times.copied = policy_.seconds();
}

/// Saves from the state's own memory while the trainer waits. A merge that is due runs in the background afterwards.
save_report session::save_sync(any_state state, const observation& now, std::optional<save_kind> kind, bool ends_run) {
  const stopwatch stall;
  const auto job = make_job(state, now, kind, ends_run);
  // The comparison encodes all at once: none where the save is made in parts.
  if (const auto same = ends_run && part_to_encode(*job) >= 1 ? find_same(*job) : std::nullopt) {
    series_.note_end(*job);
    stalled(stall);
    return *same;
  }
  auto report = run_sync(job, kind, stall);
  stalled(stall);
  if (series_.is_merge_due()) {
    limiter_.begin(options_.max_bytes_per_second);
    is_published_ = true;
    begin_background_work();
    background_.start([this] {
      run_in_background([&] {
        tidy_up();
        return true;
      });
    });
  }
  return report;
}

/// Counts an error of `act`, and throws it.
template <class Act>
auto session::with_failures_counted(const Act& act) {
  try {
    return act();
  } catch (const error&) {
    record_.count([](save_stats& all) { ++all.failed; });
    throw;
  }
}

/// The report of the checkpoint of this step, if it is published and has the same state, and all metrics of the new one.
std::optional<save_report> session::find_same(const save_job& job) {
  if (!newest_delta_ || series_.newest() != newest_delta_->checkpoint || newest_delta_->checkpoint.name != job.name)
    return with_failures_counted([&] { return series_.find_published(job); });
  if (!says_all(newest_delta_->info, job.info) || !is_published(store(), newest_delta_->checkpoint) ||
      sum_of(job.what) != newest_delta_->sum)
    return std::nullopt;
  return newest_delta_->report;
}

save_report session::run_sync(const std::shared_ptr<save_job>& job, std::optional<save_kind> kind,
                              const stopwatch& stall, const plan::partition* plan) {
  record_.emit(series_.about(event::kind::started, *job));
  job->hooks.progress = progress_of(*job);
  newest_delta_.reset();
  return with_failures_counted([&] {
    auto report = plan ? series_.save_together(job, *plan, shares_) : series_.save(job, parts_of(*job));
    const double now = policy_.seconds();
    record_.published({job->info.step, now, report, kind_of(kind, report), true});
    ranks_.all([&] {
      if (ranks_.is_leader()) series_.checkpoints().prune();
    });
    policy_.set_newest({.step = job->info.step, .began = now, .copied = now, .stall_seconds = stall.seconds()});
    return report;
  });
}

/// Reports bytes written; from any thread.
std::function<void(std::uint64_t, std::uint64_t)> session::progress_of(const save_job& job) {
  return [this, about = series_.about(event::kind::progress, job)](std::uint64_t bytes, std::uint64_t total) {
    auto what = about;
    what.bytes = bytes;
    what.total = total;
    record_.emit(what);
  };
}

/// Saves the state of this step before the deadline of the signal or the time limit, raw if encoding would take too long or has no memory. An earlier
/// error of the background thread is not thrown here, but by `wait`.
step_outcome session::preempt(any_state state, const observation& now) {
  if (preempted_step_ == now.step) return {.stop = true};
  const stopwatch stall;
  const double left = seconds_to_stop();
  record_.emit({.what = event::kind::stopping,
                .checkpoint = store().location(),
                .step = now.step,
                .seconds = left,
                .message = reason_to_stop(poll() ? options_.preempt.number() : time_limit)});
  auto job = make_job(state, now, std::nullopt, true);
  const auto plan = plan_preempt(seconds_to_stop(), job->state_bytes(), record_.newest());
  limiter_.remove_limit();
  if (!wait_for_background(std::chrono::duration<double>(plan.grace_seconds))) {
    limiter_.cancel();
    wait_for_background();
  }
  learn();
  step_outcome outcome{.stop = true};
  std::optional<save_kind> kind;
  job->info.notes = policy_.notes(now.step, true, record_);  // the policy has learned of the save that was waited for
  if (plan.as_raw || part_to_encode(*job) <= 0) {
    kind = save_kind::raw;
    save_raw(*job);
  }
  const auto progress = std::make_shared<save_progress>();
  progress->published(run_sync(job, kind, stall));
  outcome.started = true;
  outcome.save = save_handle(progress);
  preempted_step_ = now.step;
  outcome.stall_seconds = stalled(stall);
  return outcome;
}

}  // namespace cairn::inline v0_1::detail
