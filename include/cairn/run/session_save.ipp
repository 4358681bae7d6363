// SPDX-License-Identifier: MIT
// Definitions of session.hpp: how a save is made: what it contains, what this process writes of it, how much memory it
// may take, and its copy; and whether one is made while another runs.
#pragma once

#include <tuple>

#include "cairn/run/session.hpp"
#include "cairn/state/describe.hpp"
#include "cairn/store/naming.hpp"

namespace cairn::inline v0_1::detail {

/// The job of a save of the state, but for how it is stored.
std::shared_ptr<save_job> session::describe_job(any_state state, const observation& now) {
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
    throw error(report_failure(now.step, std::current_exception()));
  }
  job->info = {.step = now.step, .metrics = now.metrics, .metadata = options_.metadata};
  for (const auto& each : job->what.leaves)
    if (const auto at = earlier_losses_.find(each.path); at != earlier_losses_.end()) job->restored.insert(*at);
  if (now.loss) job->info.metrics["loss"] = *now.loss;
  job->threads = options_.threads;
  has_run_ = true;
  return job;
}

/// How the state is stored, from the options and the kind that the policy has chosen, and what the policy remembers.
void session::choose_how(save_job& job, std::optional<save_kind> kind, bool ends_run) {
  job.info.notes = policy_.notes(job.info.step, ends_run, record_);
  job.codecs = kind == save_kind::raw ? codec_rules{{"*", raw_codec()}} : options_.codecs;
  job.chain = options_.chain;
  if (kind == save_kind::raw || kind == save_kind::whole) job.chain.anchor_every = 1;
}

/// Counts and reports a save that failed before there was work, and returns its error.
error session::report_failure(std::uint64_t step, const std::exception_ptr& cause) {
  record_.count([](save_stats& all) { ++all.failed; });
  return history_.report_failure(history_.about(event::kind::failed, step), cause);
}

/// Reports bytes written; from any thread.
std::function<void(std::uint64_t, std::uint64_t)> session::progress_of(const save_job& job) {
  return [this, about = history_.about(event::kind::progress, job)](std::uint64_t bytes, std::uint64_t total) {
    auto what = about;
    what.bytes = bytes;
    what.total = total;
    record_.emit(what);
  };
}

/// A save that the trainer waits for, on which all ranks agree: with the same plan, of a state that is the same at all
/// but for what one alone has.
std::unique_ptr<work> session::make_sync_save(std::shared_ptr<save_job> job, std::optional<save_kind> kind,
                                              bool ends_run) {
  auto made = std::make_unique<work>();
  made->is_sync = true;
  made->kind = kind;
  made->job = std::move(job);
  ranks_.all([&] {
    choose_how(*made->job, kind, ends_run);
    divide(*made);
  });
  if (ranks_.is_same(made->hash)) return made;
  shares_.forget();
  history_.base().clear();
  ranks_.require_same_list("the state", [&] { return common_texts(*made->job); });
  fail(errc::mismatch, {"the ranks have different plans of the save; the next one is whole"});
}

/// What this process writes: all, or its share.
void session::divide(work& save) {
  auto& job = *save.job;
  if (ranks_.is_alone()) return;
  // A delta has the last save's plan again: each rank finds its share's values in the checkpoint before.
  const auto& base = history_.base();
  const auto plan = shares_.plan_for(job, use_parent(job.codecs) && base.can_extend(job.info.step, job.chain));
  save.share.pieces = share_of(job, *plan, ranks_.rank());
  job.share_bytes = bytes_of(job.what.leaves, std::span(save.share.pieces));
  if (ranks_.is_leader()) save.share.common = plan->pieces();
  save.hash = agreement_hash(job, *plan, base.deltas_to_merge());
}

/// Copies what this process writes, and starts the save of the copy. What fails here is thrown at once.
void session::copy(std::unique_ptr<work> save, any_state state, const observation& now, const stopwatch& stall) {
  save->job = describe_job(state, now);
  auto& job = *save->job;
  choose_how(job, save->kind, false);
  // It can be cancelled, and is held back by the limit on bytes per second.
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
  history_.report(event::kind::started, job);
  limiter_.begin(options_.max_bytes_per_second);
  try {
    background_.wait();
    divide(*save);
    const auto plan = plan_copy(*save);
    work_ = std::move(save);
    stage(plan, stall);
  } catch (...) {
    const auto cause = std::current_exception();
    if (work_) {
      wait_for_background();
      work_.reset();
      policy_.fall_back(record_);
    }
    throw error(report_failure(now.step, cause));
  }
}

/// Copies the shards: all at once; or, where the memory for the copy is limited, one by one, each as soon as the
/// previous one is written.
void session::stage(const staging_plan& plan, const stopwatch& stall) {
  auto& save = *work_;
  const auto job = save.job;
  const auto count = plan.shards.size(), at_once = plan.in_parts ? 1 : count;
  if (plan.in_parts) {
    const auto text = "copied in " + std::to_string(count) + " parts" + plan.reason;
    history_.report(event::kind::staged_in_parts, *job, 0, 0, text);
  }
  save.shards_of_save = count;
  const double began = policy_.seconds();
  for (std::size_t first = 0; first < count; first += at_once) {
    if (first != 0) wait_for_background();
    if (save.failure) break;  // the previous part has failed
    save.shards =
        staging_.copy(job->what.leaves, std::span(plan.shards).subspan(first, at_once), options_.copy_threads);
    const bool is_first = first == 0, is_last = first + at_once >= count;
    if (is_last) {
      const auto bytes = ranks_.is_alone() ? bytes_of(job->what.leaves) : job->share_bytes;
      history_.report(event::kind::copied, *job, bytes, stall.seconds());
    }
    if (is_first) {
      save.times = {.step = job->info.step, .began = plan.in_parts ? began : policy_.seconds()};
      save.times.copied = save.times.began;
      policy_.set_newest(save.times);
    }
    if (!ranks_.is_alone()) return start();
    start_phase([this, is_first, is_last](work& current) {
      if (is_first) begin(current);
      write(current);
      if (is_last) finish_alone(current);
    });
  }
  if (plan.in_parts) save.times.copied = policy_.seconds();
}

/// Saves from the state's own memory while the trainer waits. A merge that is due runs in the background afterwards.
std::shared_ptr<save_result> session::save_now(std::unique_ptr<work> save, const stopwatch& stall) {
  const auto job = save->job;
  auto result = save->result;
  history_.report(event::kind::started, *job);
  job->hooks.progress = progress_of(*job);
  const auto parts = ranks_.all([&] { return cut_for_memory(*save); });
  save->one_by_one = parts != 0;
  save->shards = from_leaves<staged_piece>(ranks_.is_alone()
                                               ? divide_evenly(job->what.leaves, parts != 0 ? parts : options_.shards)
                                               : division{save->share.pieces});
  save->shards_of_save = save->shards.size();
  work_ = std::move(save);
  try {
    start();
    while (work_ && work_->is_sync) {
      begin_round(call_);
      end_round();
    }
  } catch (...) {
    if (work_ && work_->is_sync) drop_work(failure_of(*work_));  // its shards are in the trainer's memory
    throw;
  }
  const double now = policy_.seconds();
  policy_.set_newest({.step = job->info.step, .began = now, .copied = now, .stall_seconds = stall.seconds()});
  stalled(stall);
  return result;
}

// The work that runs when a new save is due.

bool session::can_replace() const {
  return options_.on_busy == when_busy::replace && work_->phase < save_phase::publishing;
}

/// Whether a save or merge runs that the new save neither waits for nor replaces. The same at all ranks, as the phase
/// of the running one is.
bool session::is_skipping(const observation& now) {
  if (!work_ || !options_.asynchronous || options_.on_busy == when_busy::wait || (can_replace() && !is_replacing_))
    return false;
  report_skipped(now);
  return true;
}

/// Reports, once per running save, that others are skipped because of it.
void session::report_skipped(const observation& now) {
  if (std::exchange(work_->is_skip_reported, true)) return;
  record_.count([](save_stats& all) { ++all.skipped; });
  const auto text = "the save or merge of step " + std::to_string(policy_.saved_step()) + " is still running";
  record_.emit(history_.about(event::kind::skipped, now.step, text));
}

/// What part of what this process writes fits into the memory that is left (fit_memory); nothing if all does. `copied`:
/// bytes of its largest copy, 0 without one. `part`: what is encoded at a time. The staging buffer counts as free.
/// errc::no_memory: a share, which is not cut, does not fit.
std::optional<memory_fit> session::fit_save(const work& save, std::uint64_t copied, double part) const {
  const auto& leaves = save.job->what.leaves;
  const auto own = memory_to_encode(leaves, ranks_.is_alone() ? divide_evenly(leaves, 1).front() : save.share.pieces,
                                    save.job->codecs, copied != 0);
  const auto encoded = static_cast<std::uint64_t>(part * static_cast<double>(own.encoded));
  const auto references = history_.base().has_references() ? 0 : own.references;
  auto fits = fit_memory(copied + encoded, references, std::min(copied, staging_.capacity()));
  if (fits && !ranks_.is_alone())
    fail(errc::no_memory, {fits->reason, "; the share of a rank is not cut: use more memory or more ranks"});
  return fits;
}

/// The copy of what this process writes: in parts if the options ask for it, or memory is short; of a share as a whole.
staging_plan session::plan_copy(const work& save) const {
  const auto& leaves = save.job->what.leaves;
  if (!ranks_.is_alone()) {
    staging_plan plan{.shards = {staging_.plan(leaves, save.share.pieces)}};
    plan.bytes = staging::bytes_for(leaves, plan.shards.front());
    std::ignore = fit_save(save, plan.bytes);
    return plan;
  }
  const auto cut = [&](std::optional<std::uint64_t> limit) {
    return plan_staging(staging_, leaves, options_.shards, limit);
  };
  auto plan = cut(options_.max_staging_bytes);
  const auto fits = fit_save(save, plan.bytes, plan.in_parts ? 1 / static_cast<double>(plan.shards.size()) : 1.0);
  if (!fits) return plan;
  plan = cut(static_cast<std::uint64_t>(fits->part * static_cast<double>(plan.bytes)));
  plan.reason = ": " + fits->reason + "; max_staging_bytes sets the size of a part";
  return plan;
}

/// Into how many parts a save is cut that the trainer waits for; 0: it is not cut. Reports it, and an error.
std::size_t session::cut_for_memory(const work& save) {
  try {
    const auto fits = fit_save(save, 0);
    if (!fits) return 0;
    const auto parts = number_of_parts(*fits);
    const auto text = "encoded in " + std::to_string(parts) + " parts: " + fits->reason;
    history_.report(event::kind::staged_in_parts, *save.job, 0, 0, text);
    return parts;
  } catch (...) {
    throw error(report_failure(save.job->info.step, std::current_exception()));
  }
}

/// Pre-faults the staging buffer in the background: the first save need not wait for it. Leaves errors to that save.
void session::reserve_staging(any_state state) noexcept {
  if (!options_.asynchronous || is_staging_reserved_ || work_) return;
  const policy_driver::pause reserving(policy_);
  is_staging_reserved_ = true;
  try {
    background_.wait();
    work save;
    save.job = std::make_shared<save_job>();
    save.job->what = describe(state, {ranks_.rank(), ranks_.size()});
    save.job->codecs = options_.codecs;
    if (!ranks_.is_alone()) {
      separate_own(*save.job, ranks_.rank());
      save.share.pieces = share_of(*save.job, shares_.fresh_plan_for(*save.job), ranks_.rank());
    }
    background_.start([this, bytes = plan_copy(save).bytes] {
      try {
        staging_.reserve(bytes, 1);
      } catch (...) {  // the first save reserves again
      }
    });
  } catch (...) {  // the first save describes and plans again
  }
}

}  // namespace cairn::inline v0_1::detail
