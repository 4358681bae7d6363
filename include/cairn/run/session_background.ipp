// Definitions of session.hpp: what runs in the background thread.
#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <utility>

#include "cairn/core/as_error.hpp"
#include "cairn/run/session.hpp"

namespace cairn::detail {

/// Encodes and writes staged shards; after the last ones publishes the checkpoint, then merges and removes what is due. The handle of the
/// save is done last, when the checkpointer is ready for the next save.
CAIRN_INLINE void session::run_async(async_save& save, const part& which) {
  std::optional<save_report> report;
  const auto write = [&] {
    if (which.is_first) series_.begin(save.job, which.shards_of_save);
    const auto& leaves = save.job->what.leaves;
    // Only where a later `save` may compare it, see find_same. Before encoding, which overwrites the copy.
    if (which.is_first && save.job->info.notes.empty()) save.sum.emplace(save.job->what);
    if (save.sum) save.sum->add(leaves, which.shards);
    series_.add(which.shards);
    if (!which.is_last) return false;
    report = series_.finish();
    newest_copy_.reset();
    if (save.sum) newest_copy_ = {*series_.newest(), save.job->info.metrics, save.sum->value(), *report};
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
CAIRN_INLINE void session::tidy_up() {
  series_.checkpoints().prune();
  if (!series_.is_merge_due()) return;
  limiter_.count_anew();
  series_.merge(
      [this] {
        record_.touch();
        limiter_.check();
      },
      [this](std::uint64_t bytes, std::uint64_t /*total*/) { limiter_.wait_until_allowed(bytes); });
  record_.count([](save_stats& all) { ++all.merged; });
  series_.checkpoints().prune();
}

/// Runs `job` in the background thread; it returns whether the save or merge is complete. Returns what failed; an error is also kept for
/// the trainer.
CAIRN_INLINE std::optional<error> session::run_in_background(const std::function<bool()>& job) {
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

}  // namespace cairn::detail
