// Definitions of session.hpp: what is done in the thread behind the training.
#pragma once

#include <exception>
#include <functional>
#include <utility>

#include "cairn/run/session.hpp"

namespace cairn::detail {

/// Saves a copy, then merges and removes what is to be merged and removed.
CAIRN_INLINE void session::save_copy(save_request& request, double begun) {
  const auto step = request.step;
  const event about{.checkpoint = series_.path_of(step), .step = step};
  request.steps.check = [this] { limiter_.check(); };
  request.steps.progress = [this, tell = tell_progress(about)](std::uint64_t bytes, std::uint64_t total) {
    limiter_.reach(bytes);
    tell(bytes, total);
  };
  do_behind([&] {
    try {
      auto report = series_.save(request);
      const auto kind = kind_of(request, report);
      record_.published({step, begun, std::move(report), kind, false, limiter_.held_back()});
    } catch (const save_abandoned&) {
      auto told = about;
      told.what = event::kind::skipped;
      told.message = "abandoned for what comes after it";
      record_.tell(told);
      throw;
    }
    request.what = {};
    tidy_up();
  });
  request.what = {};
  request.steps = {};  // whoever waits for parts to be copied waits no longer
}

/// Removes what no rule keeps; merges when it is time for that, and removes what that frees.
CAIRN_INLINE void session::tidy_up() {
  prune();
  if (!series_.is_merge_due()) return;
  series_.merge([this] { limiter_.check(); });
  record_.count([](save_stats& all) { ++all.merged; });
  prune();
}

CAIRN_INLINE void session::prune() {
  record_.count([pruned = series_.prune()](save_stats& all) { all.pruned += pruned; });
}

/// Does a job behind the training; what it throws is kept for the trainer.
CAIRN_INLINE void session::do_behind(const std::function<void()>& job) {
  const stopwatch watch;
  try {
    job();
  } catch (const save_abandoned&) {
    record_.count([](save_stats& all) { ++all.skipped; });
  } catch (const std::exception& cause) {
    record_.keep(as_error(cause, series_.store().location()));
  }
  record_.count([&](save_stats& all) { all.background_seconds += watch.seconds(); });
  saving_ = false;
}

}  // namespace cairn::detail
