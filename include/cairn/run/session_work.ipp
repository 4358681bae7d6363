// SPDX-License-Identifier: MIT
// Definitions of session.hpp: the save or merge under way (work.hpp): its phases, what runs them, and how it ends.
#pragma once

#include <algorithm>
#include <chrono>
#include <tuple>

#include "cairn/core/as_error.hpp"
#include "cairn/run/session.hpp"

namespace cairn::inline v0_1::detail {

/// Runs a phase of the work: in the background thread, or at once where the trainer waits for it. What fails is kept
/// for the next vote.
template <class Phase>
void session::run(Phase phase) {
  background_.wait();
  record_.touch();
  auto& all = *work_;
  const auto job = [this, &all, phase = std::move(phase)] {
    const stopwatch watch;
    try {
      phase(all);
    } catch (...) {
      all.failure = failure_of(all);
      if (runs_through()) fail_work(all, *all.failure);
    }
    if (!all.is_sync) record_.count([&](save_stats& stats) { stats.background_seconds += watch.seconds(); });
    all.is_done = true;
    if (all.has_ended) end_handle(all);  // last: the checkpointer is ready for the next save then
  };
  all.is_done = false;
  if (all.is_sync) return job();
  try {
    background_.start(job);
  } catch (...) {
    all.failure = failure_of(all);
    if (runs_through()) fail_work(all, *all.failure);
    all.is_done = true;
    if (all.has_ended) end_handle(all);
  }
}

/// What is being thrown, as the failure of the work.
error session::failure_of(const work& all) const noexcept {
  const auto cause = std::current_exception();
  try {
    const auto& name = all.job ? all.job->name : history_.base().parent()->name;
    return as_error(cause, {store().location(), "/", name, " cannot be ", all.is_published ? "merged" : "saved"});
  } catch (...) {  // no memory for the location
    return as_error(cause, {"the save or merge"});
  }
}

/// The leader begins; alone, a merge in the background runs through.
void session::start() {
  work_->phase = save_phase::copied;
  work_->is_hang_reported = false;
  record_.touch();
  if (!ranks_.is_leader()) return;
  run([this](work& all) {
    begin(all);
    if (!runs_through()) return;
    write(all);
    run_through(all);
  });
}

// The phases.

/// At the leader: begins the checkpoint.
void session::begin(work& all) {
  if (!all.is_merge()) history_.prepare_for(all.job->info.step);
  make_part(all);
  all.begun = all.part->begin();
}

/// At the others: joins it.
void session::join(work& all, const std::string& begun) {
  make_part(all);
  all.part->join(begun);
}

/// This process's part in the checkpoint, from what is copied or to be merged.
void session::make_part(work& all) {
  auto& place = history_.store();
  if (all.is_merge())
    return static_cast<void>(all.part.emplace(place, history_.base().parent()->name, *all.merges, ranks_.rank()));
  auto& job = *all.job;
  history_.set_hooks(job);
  all.encodes = ranks_.is_alone() ? std::make_unique<encode_source>(place, job, all.shards_of_save, &history_.base())
                                  : std::make_unique<encode_source>(place, job, ranks_.size(), &history_.base(),
                                                                    std::move(all.share));
  all.part.emplace(place, job.name, *all.encodes, ranks_.rank());
}

/// Writes the next shards of this process.
void session::write(work& all) {
  if (all.is_merge()) {
    all.part->write();
  } else {
    const auto at_once = all.one_by_one ? 1 : all.shards.size();
    for (std::size_t first = 0; first < all.shards.size(); first += at_once)
      all.part->write(std::span(all.shards).subspan(first, at_once));
    all.shards.clear();
  }
  if (!ranks_.is_alone()) all.record = all.part->record();
}

/// At the leader: publishes the checkpoint, of the records of all ranks.
void session::publish(work& all, std::span<const std::string> records) {
  all.part->unite(records);
  if (!all.is_merge()) history_.check_replicas(*all.job, all.encodes->samples());
  all.made = all.part->publish();
  published(all);
  all.published = ranks_.is_alone() ? "1" : write_published(*all.made);
  std::ignore = history_.checkpoints().prune();
}

/// At the leader in `publish`, and then at the others: the checkpoint is published.
void session::published(work& all) {
  if (all.is_merge()) {
    history_.merged(all.merges->published(*all.made));
    record_.count([](save_stats& stats) { ++stats.merged; });
  } else {
    const auto report = std::make_shared<save_report>();
    *report = history_.saved(*all.job, all.encodes->published(*all.made));
    all.report = report;
  }
  all.part.reset();
}

/// A save is published at all ranks.
void session::count_save(work& save) {
  save.is_published = true;
  const auto& job = *save.job;
  const auto kind = save.report->is_delta         ? save_kind::delta
                    : save.kind == save_kind::raw ? save_kind::raw
                                                  : save_kind::whole;
  record_.published({job.info.step, save.is_sync ? policy_.seconds() : save.times.began, save.report, kind,
                     save.is_sync, save.is_sync ? 0 : limiter_.held_back()});
}

/// Alone, in the background, after `write`.
void session::run_through(work& all) {
  publish(all, {});
  if (!all.is_merge()) {
    count_save(all);
    limiter_.count_anew();
    if (begin_merge(all)) {
      begin(all);
      write(all);
      publish(all, {});
    }
  }
  all.encodes.reset();
  all.job.reset();
  all.has_ended = true;
}

/// Turns a published save into the merge after it, if one is due: at all ranks, which have the same chain.
bool session::begin_merge(work& all) {
  if (!history_.is_merge_due() || !may_merge_ || is_stopping_) return false;
  all.merges = history_.source_of_merge(
      [this] {
        record_.touch();
        limiter_.check();
      },
      [this](std::uint64_t bytes, std::uint64_t /*total*/) { limiter_.wait_until_allowed(bytes); });
  all.encodes.reset();
  all.job.reset();  // frees the copies that the description holds
  all.begun.clear();
  all.published.clear();
  return true;
}

/// Ends this process's work, because of an error of this or another rank: reports it, and leaves the store as it was.
void session::fail_work(work& all, const error& cause) noexcept {
  if (std::exchange(all.has_ended, true)) return;
  auto failure = cause;
  try {
    if (all.is_published) {
      all.part.reset();
      history_.merge_failed(cause);
    } else {
      if (all.part) history_.checkpoints().failed(*all.job);  // it may have been published
      all.part.reset();
      all.encodes.reset();
      failure = history_.failed(history_.about(event::kind::failed, *all.job), std::make_exception_ptr(cause));
    }
  } catch (...) {  // the memory for the text of an event
  }
  all.failure = failure;
  if (cause.code() != errc::cancelled)
    record_.count([](save_stats& stats) { ++stats.failed; });
  else if (!all.is_published)
    record_.count([](save_stats& stats) { ++stats.skipped; });
}

/// The handle of the save is done, also after a merge that has failed.
void session::end_handle(const work& all) noexcept {
  if (all.is_published)
    all.progress->published(all.report);
  else
    all.progress->failed(*all.failure);
}

/// Cancels the work at this rank.
void session::drop_work(const error& cause) {
  if (!work_) return;
  limiter_.cancel();
  wait_for_background();
  const auto ended = std::move(work_);
  fail_work(*ended, cause);
  end_handle(*ended);
  learn();  // it may have been published before it could be cancelled
  policy_.fall_back(record_);
}

/// Cancels the work at all ranks. Alone, it may have failed before.
void session::cancel_work(const std::string& why) {
  if (runs_through()) {
    limiter_.cancel();
    wait_for_background();
    if (work_->failure && work_->failure->code() != errc::cancelled) return fail_together({.has_failed = true});
  }
  drop_work({errc::cancelled, why});
}

/// All is published.
void session::end_work() noexcept {
  const auto ended = std::move(work_);
  end_handle(*ended);
}

/// Waits for the background thread, and reports a hang.
void session::wait_for_background() noexcept {
  constexpr std::chrono::duration<double> least(0.001), most(1);
  while (!background_.wait_for(std::clamp(options_.hang_timeout.value_or(most), least, most))) report_hang();
}

/// Reports, once per save or merge, that it makes no progress. A save held back by the rate limit does not hang.
void session::report_hang() noexcept {
  if (!options_.hang_timeout || !work_ || work_->is_sync || work_->is_hang_reported || limiter_.is_holding()) return;
  const double idle = record_.idle_seconds();
  if (idle < options_.hang_timeout->count()) return;
  try {
    auto what = history_.about(event::kind::hanging, policy_.saved_step());
    what.seconds = idle;
    record_.emit(what);
    work_->is_hang_reported = true;
  } catch (...) {  // no memory: the next call reports it
  }
}

}  // namespace cairn::inline v0_1::detail
