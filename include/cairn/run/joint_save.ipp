// SPDX-License-Identifier: MIT
// Definitions of session.hpp: what one rank does for a save or merge of all ranks in the background. session_ranks.ipp says when.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/core/as_error.hpp"
#include "cairn/run/session.hpp"
#include "cairn/run/session_save.ipp"

namespace cairn::inline v0_1::detail {

/// A save of all ranks in the background, or the merge after it.
struct session::joint_save {
  bool is_merge = false;
  std::shared_ptr<async_save>
      save;  // of a merge: the published save, whose handle is done when the merge is; null if the trainer has waited for it
  division pieces;                  // of all ranks; at the leader
  std::vector<piece> own_pieces;    // of this rank
  std::vector<staged_piece> share;  // of this rank
  std::uint64_t hash = 0;           // of the state's description and the plan
  save_phase phase = save_phase::copied;
  // Set by the background thread:
  std::string begun;  // at the leader; valid once `is_begun`
  std::atomic<bool> is_begun{false};
  std::uint64_t published = 0;                  // bytes, at the leader; this and the next are valid once `is_done`
  bool is_whole = false;                        // the merged checkpoint, at the leader
  std::optional<error> failure, later_failure;  // of the save or merge, and of retention after it
  std::optional<save_report> report;            // of the save, at the leader; of a merge: of the published save
  std::atomic<bool> is_done{false};

  [[nodiscard]] bool has_failed() const { return is_done && failure; }
  /// Of a merge: ends the handle of the save before it.
  void end_handle() {
    if (save) save->progress->published(std::move(*report));
  }
};

/// Copies the share of this rank. The leader begins the checkpoint.
void session::copy_share(any_state state, const observation& now, std::optional<save_kind> kind,
                         const stopwatch& stall) {
  background_.wait();
  auto made = std::make_unique<joint_save>();
  made->save = std::make_shared<async_save>();
  auto& save = *made->save;
  save.job = make_job(state, now, kind, false);
  save.kind = kind;
  auto& job = *save.job;
  try {
    set_background_hooks(job);
    record_.emit(series_.about(event::kind::started, job));
    limiter_.begin(options_.max_bytes_per_second);
    const auto plan = shares_.plan_for(job, series_.extends_chain(job));
    made->own_pieces = share_of(job, *plan, ranks_.rank());
    if (ranks_.is_leader()) made->pieces = plan->pieces();
    made->hash = agreement_hash(job, *plan, series_.deltas_to_merge());
    const std::vector<std::vector<planned_copy>> shares{staging_.plan(job.what.leaves, made->own_pieces)};
    if (const auto fits = fit_save(job, staging::bytes_for(job.what.leaves, shares.front()), 1.0 / ranks_.size()))
      fail(errc::no_memory,
           {fits->reason, "; the share of a rank is copied as a whole: use more memory or more ranks"});
    made->share = std::move(staging_.copy(job.what.leaves, shares, options_.copy_threads).front());
    auto what = series_.about(event::kind::copied, job);
    for (const auto& each : made->own_pieces) what.bytes += each.count * size_of(job.what.leaves[each.leaf].type);
    what.seconds = stall.seconds();
    record_.emit(what);
  } catch (...) {
    throw error(failed(now.step, std::current_exception()));
  }
  save.times = {.step = now.step, .began = policy_.seconds()};
  save.times.copied = save.times.began;
  is_published_ = false;
  begin_background_work();
  joint_ = std::move(made);
  if (!ranks_.is_leader()) return;
  joint_->phase = save_phase::writing;
  run_share([this](joint_save& all) {
    all.begun = series_.begin_together(all.save->job, all.own_pieces);
    all.is_begun = true;
    write_share(all);
  });
}

/// Calls `act` in the background thread.
void session::run_share(const std::function<void(joint_save&)>& act) {
  background_.wait();
  joint_->is_done = false;
  background_.start([this, all = joint_.get(), act] {
    const stopwatch watch;
    try {
      act(*all);
    } catch (...) {
      all->failure = as_error(std::current_exception(), series_.store().location());
    }
    record_.count([&](save_stats& stats) { stats.background_seconds += watch.seconds(); });
    all->is_done = true;
  });
}

void session::join_joint_save(const std::string& begun) {
  if (ranks_.is_leader()) return;
  joint_->phase = save_phase::writing;
  run_share([this, begun](joint_save& all) {
    if (all.is_merge) {
      series_.join_merge(hooks_of_merge(), begun);
      return series_.merge_share();
    }
    series_.join_together(all.save->job, all.own_pieces, begun);
    write_share(all);
  });
}

/// Encodes and writes the share of this rank, in the background thread.
void session::write_share(joint_save& all) {
  auto& save = *all.save;
  if (use_parent(save.job->codecs)) {  // for a later `save`, see find_same; before encoding, which overwrites the copy
    const shards_of<staged_piece> copied{all.share};
    save.sum.emplace(save.job->what);
    save.sum->add(save.job->what.leaves, copied);
  }
  series_.add_share(std::move(all.share));
}

void session::publish_joint_save() {
  background_.wait();
  const auto records = ranks_.gather(series_.record_of_share());
  joint_->phase = save_phase::publishing;
  if (!ranks_.is_leader()) return;
  run_share([this, records](joint_save& all) {
    if (all.is_merge) {
      const auto report = series_.publish_merge(records);
      all.is_whole = report.parent.empty();
      all.published = report.bytes;
    } else {
      all.report = series_.publish_together(records, all.pieces);
      all.published = all.report->bytes;
    }
    try {
      series_.checkpoints().prune();
    } catch (...) {
      all.later_failure = as_error(std::current_exception(), series_.store().location());
    }
  });
}

/// The checkpoint is published, in `bytes` bytes.
void session::end_joint_save(std::uint64_t bytes) {
  background_.wait();
  const auto outcome = series_.share_outcome(*joint_->save->job, shares_, bytes);
  const auto ended = std::move(joint_);
  saving_ = false;
  const auto& save = *ended->save;
  const auto step = save.job->info.step;
  auto report = ranks_.is_leader() ? std::move(*ended->report) : series_.published_together(outcome);
  record_.published({step, save.times.began, report, kind_of(save.kind, report), false, limiter_.held_back()});
  learn();
  newest_delta_.reset();
  if (report.is_delta) newest_delta_ = {*series_.newest(), save.job->info, save.sum->value(), report};
  note_later_failure(*ended);
  if (begin_joint_merge()) {
    ended->save->job.reset();  // frees the copies that the description holds
    joint_->save = ended->save;
    joint_->report = std::move(report);
  } else {
    save.progress->published(std::move(report));
  }
}

void session::note_later_failure(const joint_save& ended) {
  if (!ended.later_failure) return;
  own_failure_ = ended.later_failure;
  record_.count([](save_stats& all) { ++all.failed; });
}

/// Begins the merge of the newest deltas, if it is due, at all ranks: they have the same chain. Returns whether it has begun.
bool session::begin_joint_merge() {
  if (!series_.is_merge_due() || !may_merge_ || is_stopping_) return false;
  limiter_.begin(options_.max_bytes_per_second);
  is_published_ = true;
  begin_background_work();
  joint_ = std::make_unique<joint_save>();
  joint_->is_merge = true;
  if (!ranks_.is_leader()) return true;
  joint_->phase = save_phase::writing;
  run_share([this](joint_save& all) {
    all.begun = series_.begin_merge(hooks_of_merge());
    all.is_begun = true;
    series_.merge_share();
  });
  return true;
}

/// The merged checkpoint is published, in `bytes` bytes.
void session::end_joint_merge(std::uint64_t bytes) {
  background_.wait();
  const bool is_whole = ranks_.from_leader([&] { return joint_->is_whole; });
  if (!ranks_.is_leader()) series_.merge_published(bytes, is_whole);
  const auto ended = std::move(joint_);
  saving_ = false;
  record_.count([](save_stats& all) { ++all.merged; });
  note_later_failure(*ended);
  ended->end_handle();
}

/// Cancels the running save at this rank.
void session::drop_joint_save(const error& cause) {
  if (!joint_) return;
  limiter_.cancel();
  wait_for_background();
  const auto ended = std::move(joint_);
  saving_ = false;
  auto failure = cause;
  try {
    failure = ended->is_merge ? series_.cancel_merge(cause) : series_.cancel_together(*ended->save->job, cause);
  } catch (...) {  // the memory for the text of an event
  }
  policy_.fall_back(record_);
  if (ended->is_merge) return ended->end_handle();
  if (cause.code() == errc::cancelled) record_.count([](save_stats& all) { ++all.skipped; });
  ended->save->progress->failed(failure);
}

}  // namespace cairn::inline v0_1::detail
