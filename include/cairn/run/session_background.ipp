// Definitions of session.hpp: what runs in the background thread.
#pragma once

#include <exception>
#include <functional>
#include <utility>

#include "cairn/run/session.hpp"

namespace cairn::detail {

/// Encodes and writes staged shards; after the last ones publishes the checkpoint, then merges and removes what is due.
CAIRN_INLINE void session::run_async(async_save& save, const part& which) {
  run_in_background([&] {
    try {
      if (which.is_first) series_.begin(save.job, which.shards_of_save);
      series_.add(which.shards);
      if (!which.is_last) return false;
      auto report = series_.finish();
      record_.published(
          {save.job->info.step, save.times.began, report, kind_of(save.kind, report), false, limiter_.held_back()});
      save.job.reset();  // frees the copies that the description holds
      save.progress->published(report);
    } catch (const save_cancelled&) {
      auto what = series_.about(event::kind::skipped, save.job->info.step);
      what.message = "cancelled for a newer save or the end of the run";
      record_.emit(what);
      save.progress->failed(error(errc::cancelled, sentence({what.checkpoint, ": the save was cancelled"})));
      throw;
    } catch (const std::exception& cause) {
      save.progress->failed(as_error(cause, series_.store().location()));
      throw;
    }
    tidy_up();
    return true;
  });
}

/// Removes what no rule keeps; merges when it is time for that, and removes what that frees.
CAIRN_INLINE void session::tidy_up() {
  prune();
  if (!series_.is_merge_due()) return;
  series_.merge([this] {
    record_.touch();
    limiter_.check();
  });
  record_.count([](save_stats& all) { ++all.merged; });
  prune();
}

CAIRN_INLINE void session::prune() {
  record_.count([pruned = series_.prune()](save_stats& all) { all.pruned += pruned; });
}

/// Runs `job` in the background thread; it returns whether the save or merge is complete. An error is kept for the trainer.
CAIRN_INLINE void session::run_in_background(const std::function<bool()>& job) {
  const stopwatch watch;
  bool is_done = true;
  try {
    is_done = job();
  } catch (const save_cancelled&) {
    record_.count([](save_stats& all) { ++all.skipped; });
  } catch (const std::exception& cause) {
    record_.keep(as_error(cause, series_.store().location()));
  }
  record_.count([&](save_stats& all) { all.background_seconds += watch.seconds(); });
  if (is_done) saving_ = false;
}

}  // namespace cairn::detail
