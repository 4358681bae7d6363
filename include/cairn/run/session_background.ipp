// SPDX-License-Identifier: MIT
// Definitions of session.hpp: what runs in the background thread, and how the trainer's thread waits for it.
#pragma once

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <optional>
#include <utility>

#include "cairn/core/as_error.hpp"
#include "cairn/run/session.hpp"

namespace cairn::inline v0_1::detail {

/// Encodes and writes staged shards; after the last ones publishes the checkpoint, then merges and removes what is due. The handle of the
/// save is done last, when the checkpointer is ready for the next save.
void session::run_async(async_save& save, const part& which) {
  std::optional<save_report> report;
  const auto write = [&] {
    if (which.is_first) series_.begin(save.job, which.shards_of_save);
    const auto& leaves = save.job->what.leaves;
    // Only where a later `save` may compare it, see find_same. Before encoding, which overwrites the copy.
    if (which.is_first && use_parent(save.job->codecs)) save.sum.emplace(save.job->what);
    if (save.sum) save.sum->add(leaves, which.shards);
    series_.add(which.shards);
    if (!which.is_last) return false;
    report = series_.finish();
    newest_delta_.reset();
    if (report->is_delta) newest_delta_ = {*series_.newest(), save.job->info, save.sum->value(), *report};
    is_published_ = true;
    record_.published(
        {save.job->info.step, save.times.began, *report, kind_of(save.kind, *report), false, limiter_.held_back()});
    save.job.reset();  // frees the copies that the description holds
    tidy_up();
    return true;
  };
  const auto failure = run_in_background(std::ref(write));  // what allocates here would end the program when it fails
  if (report)
    save.progress->published(std::move(*report));
  else if (failure)
    save.progress->failed(*failure);
}

/// Removes what no rule keeps; merges when it is time for that, within the limit on bytes per second, and removes what that frees.
void session::tidy_up() {
  series_.checkpoints().prune();
  if (!series_.is_merge_due()) return;
  limiter_.count_anew();
  series_.merge(hooks_of_merge());
  record_.count([](save_stats& all) { ++all.merged; });
  series_.checkpoints().prune();
}

/// A merge can be cancelled, and is held back by the limit on bytes per second.
checkpoint_series::merge_hooks session::hooks_of_merge() {
  return {.check =
              [this] {
                record_.touch();
                limiter_.check();
              },
          .progress = [this](std::uint64_t bytes, std::uint64_t /*total*/) { limiter_.wait_until_allowed(bytes); }};
}

/// Runs `job` in the background thread; it returns whether the save or merge is complete. Returns what failed; an error is also kept for
/// the trainer.
std::optional<error> session::run_in_background(const std::function<bool()>& job) {
  const stopwatch watch;
  bool is_done = true;
  std::optional<error> failure;
  try {
    is_done = job();
  } catch (...) {
    failure = as_error(std::current_exception(), series_.store().location());
    if (failure->code() != errc::cancelled)
      record_.keep(*failure);
    else if (!is_published_)
      record_.count([](save_stats& all) { ++all.skipped; });
  }
  record_.count([&](save_stats& all) { all.background_seconds += watch.seconds(); });
  if (is_done) saving_ = false;
  return failure;
}

/// Takes the result of the background thread: keeps or throws its error (see `on_failure`), or reports the published save to the policy.
void session::collect_background_result() {
  const auto failure = record_.take_failure();
  if (!failure) return learn();
  background_.wait();
  const bool keeps = options_.on_failure == when_failed::keep_training;
  const bool tries_again = !is_published_ && is_retried(*failure);
  if ((keeps && !is_published_) || tries_again) policy_.delay_retry(true);
  learn();  // of the save, if only the merge after it has failed; or of that after a signal
  if (tries_again) kept_failure_ = failure;
  policy_.fall_back(record_);
  if (!keeps && !tries_again) throw error(*failure);
}

/// Reports the newest save to the policy once it is published. Earlier failures do not count then.
void session::learn() {
  if (policy_.learn(record_)) kept_failure_.reset();
}

/// Whether a save in the background that has failed is tried again, and its error not thrown yet.
bool session::is_retried(const error& failure) const {
  return options_.on_failure == when_failed::raise && failure.code() == errc::io &&
         policy_.failing_seconds() < options_.retry_for.count();
}

/// Waits for the running save, and throws its error. In a group, `call` is the same at all ranks, or all throw.
void session::enter(const std::string& call) {
  check_owner();
  if (!ranks_.is_alone()) return run_rounds(call);
  wait_for_background();
  collect_background_result();
}

/// Waits for the running save, or cancels it, as the options say. Returns false if the new save is skipped.
bool session::resolve_busy(const observation& now) {
  const bool is_busy = saving_, replaces = is_busy && options_.on_busy == when_busy::replace && !is_replacing_;
  if (is_busy && !replaces && options_.on_busy != when_busy::wait) {
    report_skipped(now);
    return false;
  }
  if (replaces) limiter_.cancel();
  is_replacing_ = replaces;
  enter("step");
  if (replaces) policy_.fall_back(record_);
  return true;
}

/// Waits for the background thread, but at most for `longest`, and reports a hang. Returns whether the thread is idle.
bool session::wait_for_background(std::chrono::duration<double> longest) noexcept {
  constexpr std::chrono::duration<double> shortest_wait(0.001);
  const stopwatch watch;
  auto left = longest;
  do {
    if (background_.wait_for(std::min(left, std::max(shortest_wait, options_.hang_timeout.value_or(left)))))
      return true;
    report_hang();
    left = longest - std::chrono::duration<double>(watch.seconds());
  } while (left.count() > 0);
  return false;
}

/// Reports, once per running save, that others are skipped because of it.
void session::report_skipped(const observation& now) {
  if (std::exchange(reported_skipped_, policy_.saved_step()) == policy_.saved_step()) return;
  record_.count([](save_stats& all) { ++all.skipped; });
  auto what = series_.about(event::kind::skipped, now.step);
  what.message = "the save or merge of step " + std::to_string(policy_.saved_step()) + " is still running";
  record_.emit(what);
}

/// A save or a merge begins in the background. Set `is_published_` before.
void session::begin_background_work() noexcept {
  is_hang_reported_ = false;
  record_.touch();
  saving_ = true;
}

/// Reports, once per save or merge, that the running one makes no progress. A save that the rate limit holds back does not hang.
void session::report_hang() noexcept {
  if (!options_.hang_timeout || !saving_ || is_hang_reported_ || limiter_.is_holding()) return;
  const double idle = record_.idle_seconds();
  if (idle < options_.hang_timeout->count()) return;
  try {
    auto what = series_.about(event::kind::hanging, policy_.saved_step());
    what.seconds = idle;
    record_.emit(what);
    is_hang_reported_ = true;
  } catch (...) {  // no memory: the next call reports it
  }
}

}  // namespace cairn::inline v0_1::detail
