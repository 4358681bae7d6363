// Definitions of training_saver.hpp.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <future>
#include <string>
#include <utility>

#include "cairn/encode_leaves.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/training_saver.hpp"

namespace cairn::detail {

inline constexpr std::uint64_t least_staging_bytes = std::uint64_t{1} << 20U;

CAIRN_INLINE training_saver::training_saver(any_store store, checkpointer_options options)
    : options_(std::move(options)),
      staging_([this](const leaf& whole, std::size_t bytes) { return room_to_encode(whole, bytes, options_.codecs); }),
      saver_(std::move(store), options_, [this](const event& what) { tell(what); }) {
  if (options_.max_staging_bytes < least_staging_bytes)
    fail(errc::invalid, {"max_staging_bytes is ", std::to_string(options_.max_staging_bytes), ", and below 1 MiB"});
  if (!(options_.max_bytes_per_second >= 0))
    fail(errc::invalid, {"max_bytes_per_second is ", std::to_string(options_.max_bytes_per_second)});
}

CAIRN_INLINE training_saver::~training_saver() {
  if (options_.on_destruction == when_destroyed::abandon) pace_.abandon();
  worker_.wait();
}

// ---------------------------------------------------------------- the trainer's thread

CAIRN_INLINE std::optional<load_report> training_saver::restore(any_state state, const load_options& options) {
  worker_.wait();
  rethrow_failure();
  auto report = saver_.restore(state, options);
  if (report) {
    watch_ = {};
    started_step_ = report->step;
    published_step_ = report->step;
    started_seconds_ = published_seconds_ = 0;
  }
  prepare(state);
  return report;
}

/// Has the memory for the copies made ready behind the training, so that the first save does not wait for it.
CAIRN_INLINE void training_saver::prepare(any_state state) {
  if (!options_.asynchronous || std::exchange(prepared_, true)) return;
  const auto bytes = plan_staging(describe(state).leaves).bytes;
  worker_.start([this, bytes] { do_behind([&] { staging_.reserve(bytes, 1); }); });
}

CAIRN_INLINE training_saver::staging_plan training_saver::plan_staging(std::span<const leaf> leaves) const {
  constexpr std::size_t most_shards = 99'999;
  staging_plan plan{divide_evenly(leaves, options_.shards)};
  plan.bytes = staging_.bytes_for(leaves, plan.shards);
  if (plan.bytes <= options_.max_staging_bytes) return plan;
  plan.in_parts = true;
  const auto needed = plan.bytes / options_.max_staging_bytes + 1;
  for (auto count = std::max<std::size_t>(options_.shards, needed); count <= most_shards; count += count / 8 + 1) {
    plan.shards = divide_evenly(leaves, count);
    plan.bytes = 0;
    for (const auto& shard : plan.shards) plan.bytes = std::max(plan.bytes, staging_.bytes_for(leaves, {&shard, 1}));
    if (plan.bytes <= options_.max_staging_bytes) return plan;
  }
  fail(errc::invalid, {"the state is too large for copies of ", std::to_string(options_.max_staging_bytes), " bytes"});
}

CAIRN_INLINE step_outcome training_saver::step(any_state state, const observation& now) {
  if (poll()) return stop(state, now);
  rethrow_failure();
  if (!options_.when.should_save({now.step, watch_.seconds(), started_step_, started_seconds_, now.loss})) {
    prepare(state);
    return {};
  }
  const stopwatch stall;
  if (!options_.asynchronous) {
    save(state, now);
    return {.started = true, .stall_seconds = stall.seconds()};
  }
  if (!make_way(now)) return {.skipped = true, .stall_seconds = stall.seconds()};
  start(state, now);
  const double seconds = stall.seconds();
  count([&](save_stats& all) { all.stalled(seconds); });
  return {.started = true, .stall_seconds = seconds};
}

/// Waits for the save on its way, or abandons it, as the options say. False: it goes first.
CAIRN_INLINE bool training_saver::make_way(const observation& now) {
  if (saving_) {
    const bool replaces = options_.on_busy == when_busy::replace && !is_replacing_;
    if (options_.on_busy != when_busy::wait && !replaces) {
      if (told_skipped_ == started_step_) return false;
      told_skipped_ = started_step_;
      count([](save_stats& all) { ++all.skipped; });
      tell({.what = event::kind::skipped,
            .checkpoint = saver_.path_of(now.step),
            .step = now.step,
            .message = "step " + std::to_string(started_step_) + " is still being saved"});
      return false;
    }
    if (replaces) pace_.abandon();
    is_replacing_ = replaces;
  } else {
    is_replacing_ = false;
  }
  worker_.wait();
  rethrow_failure();
  return true;
}

CAIRN_INLINE save_request training_saver::request_of(any_state state, const observation& now) const {
  save_request request{.what = describe(state),
                       .step = now.step,
                       .metrics = now.metrics,
                       .threads = options_.threads,
                       .codecs = options_.codecs};
  if (now.loss) request.metrics.emplace("loss", *now.loss);
  return request;
}

/// Copies the state and starts the save of the copy. What fails here is thrown at once.
CAIRN_INLINE void training_saver::start(any_state state, const observation& now) {
  const stopwatch stall;
  auto request = std::make_shared<save_request>(request_of(state, now));
  if (request->threads == 0) request->threads = 1;  // the training has the others
  const event about{.checkpoint = saver_.path_of(now.step), .step = now.step, .total = request->state_bytes()};
  const auto tell_of = [this, about](event::kind what, const std::string& message, double seconds) {
    auto told = about;
    told.what = what;
    told.message = message;
    told.seconds = seconds;
    if (what == event::kind::copied) told.bytes = told.total;
    tell(told);
  };
  tell_of(event::kind::started, {}, 0);
  const auto copied = [tell_of, stall] { tell_of(event::kind::copied, {}, stall.seconds()); };
  pace_.begin(options_.max_bytes_per_second);
  try {
    auto plan = plan_staging(request->what.leaves);
    if (plan.in_parts) {
      tell_of(event::kind::chunked, "copied in " + std::to_string(plan.shards.size()) + " parts", 0);
      copy_in_parts(std::move(request), std::move(plan), copied);
    } else {
      staging_.copy(request->what.leaves, plan.shards, options_.copy_threads);
      copied();
      request->steps.shards = std::move(plan.shards);
      began(now.step);
      worker_.start([this, request] { save_behind(*request); });
    }
  } catch (const error& cause) {
    count([](save_stats& all) { ++all.failed; });
    tell_of(event::kind::failed, cause.what(), stall.seconds());
    throw;
  }
}

/// A save is on its way from now on.
CAIRN_INLINE void training_saver::began(std::uint64_t step) {
  started_step_ = step;
  started_seconds_ = watch_.seconds();
  saving_ = true;
}

/// Has the thread behind copy the state part by part, as memory gets free, and waits until it has copied the last one.
CAIRN_INLINE void training_saver::copy_in_parts(std::shared_ptr<save_request> request, staging_plan plan,
                                                const std::function<void()>& copied) {
  auto last_copied = std::make_shared<std::promise<void>>();
  const auto is_copied = last_copied->get_future();
  const auto& leaves = request->what.leaves;
  request->steps.stage = [this, &leaves, copied, last_copied](std::vector<piece>& part, bool is_last) {
    staging_.copy(leaves, {&part, 1}, options_.copy_threads);
    if (!is_last) return;
    copied();
    last_copied->set_value();
  };
  request->steps.shards = std::move(plan.shards);
  last_copied.reset();
  began(request->step);
  worker_.start([this, request] { save_behind(*request); });
  is_copied.wait();  // a save that ends before the last part is copied lets go of the promise
}

CAIRN_INLINE save_report training_saver::save(any_state state, const observation& now) {
  worker_.wait();
  rethrow_failure();
  const stopwatch stall;
  auto report = save_here(request_of(state, now));
  const double seconds = stall.seconds();
  count([&](save_stats& all) { all.stalled(seconds); });
  if (saver_.is_merge_due()) {
    saving_ = true;
    pace_.begin(0);
    worker_.start([this] { do_behind([&] { tidy_up(); }); });
  }
  return report;
}

/// Saves from the state's own memory, in the trainer's thread.
CAIRN_INLINE save_report training_saver::save_here(save_request request) {
  const auto step = request.step;
  event told{
      .what = event::kind::started, .checkpoint = saver_.path_of(step), .step = step, .total = request.state_bytes()};
  tell(told);
  request.steps.progress = [this, told](std::uint64_t bytes, std::uint64_t total) mutable {
    told.what = event::kind::progress;
    told.bytes = bytes;
    told.total = total;
    tell(told);
  };
  try {
    auto report = saver_.save(request);
    started_step_ = step;
    started_seconds_ = watch_.seconds();
    published(report, step, started_seconds_);
    const auto pruned = saver_.prune();
    count([&](save_stats& all) { all.pruned += pruned; });
    return report;
  } catch (const error&) {
    count([](save_stats& all) { ++all.failed; });
    throw;
  }
}

CAIRN_INLINE void training_saver::wait() {
  worker_.wait();
  rethrow_failure();
}

CAIRN_INLINE std::vector<removal> training_saver::retention_plan() {
  worker_.wait();
  return saver_.retention_plan();
}

CAIRN_INLINE save_stats training_saver::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

/// Throws what went wrong behind the training. The policy then knows that the newest save has come to nothing.
CAIRN_INLINE void training_saver::rethrow_failure() {
  std::optional<error> failure;
  {
    const std::lock_guard lock(mutex_);
    failure.swap(failure_);
  }
  if (!failure) return;
  worker_.wait();
  started_step_ = published_step_.value_or(0);
  started_seconds_ = published_seconds_;
  throw error(*failure);
}

// ---------------------------------------------------------------- when a signal has asked to stop

/// Saves what there is, as well as the time that is left allows; an error of the thread behind is left for `wait`.
CAIRN_INLINE step_outcome training_saver::stop(any_state state, const observation& now) {
  if (stopped_step_ == now.step) return {.stop = true};
  const stopwatch stall;
  const auto left = [&] { return options_.preempt_deadline.count() - options_.preempt.seconds_since(); };
  const int number = options_.preempt.number();
  tell({.what = event::kind::stopping,
        .step = now.step,
        .seconds = left(),
        .message = sentence({"signal ", std::to_string(number), ", ", ::strsignal(number)})});
  auto request = request_of(state, now);
  const bool as_raw =
      seconds_to_save(request, false) > left() && seconds_to_save(request, true) < seconds_to_save(request, false);
  finish_before(left(), seconds_to_save(request, as_raw));
  step_outcome outcome{.stop = true};
  if (published_step_ != now.step) {
    request.threads = options_.threads;
    if (as_raw) request.codecs = {{"*", codecs::raw{}}};
    save_here(std::move(request));
    outcome.started = true;
  }
  stopped_step_ = now.step;
  outcome.stall_seconds = stall.seconds();
  count([&](save_stats& all) { all.stalled(outcome.stall_seconds); });
  return outcome;
}

/// Gives what is on its way the time that the next save does not need, and then abandons it. When there is not enough time for the next
/// one anyhow, it gets all of it.
CAIRN_INLINE void training_saver::finish_before(double seconds_left, double needed) {
  pace_.hurry();
  const double unknown = seconds_left / 2;
  const double spare = needed <= 0 ? unknown : needed < seconds_left ? seconds_left - needed : seconds_left;
  if (!worker_.wait_for(std::chrono::duration<double>(std::max(spare, 0.0)))) pace_.abandon();
  worker_.wait();
}

/// How long a save will take, judged by the newest one; 0 when there was none.
CAIRN_INLINE double training_saver::seconds_to_save(const save_request& request, bool as_raw) const {
  const std::lock_guard lock(mutex_);
  if (!newest_ || newest_->state_bytes == 0 || newest_->bytes == 0) return 0;
  const auto bytes = static_cast<double>(request.state_bytes());
  if (as_raw) return bytes * newest_->write_seconds / static_cast<double>(newest_->bytes);
  return bytes * newest_->seconds / static_cast<double>(newest_->state_bytes);
}

// ---------------------------------------------------------------- the thread behind the training

/// Saves a copy, then merges and removes what is to be merged and removed.
CAIRN_INLINE void training_saver::save_behind(save_request& request) {
  const auto step = request.step;
  const double begun = started_seconds_;
  const event about{.checkpoint = saver_.path_of(step), .step = step};
  request.steps.check = [this] { pace_.check(); };
  request.steps.progress = [this, about](std::uint64_t bytes, std::uint64_t total) {
    pace_.reach(bytes);
    auto told = about;
    told.what = event::kind::progress;
    told.bytes = bytes;
    told.total = total;
    tell(told);
  };
  do_behind([&] {
    try {
      published(saver_.save(request), step, begun);
    } catch (const save_abandoned&) {
      auto told = about;
      told.what = event::kind::skipped;
      told.message = "abandoned for what comes after it";
      tell(told);
      throw;
    }
    request.what = {};
    tidy_up();
  });
  request.what = {};
  request.steps = {};  // whoever waits for parts to be copied waits no longer
}

/// Removes what no rule keeps; merges when it is time for that, and removes what that frees.
CAIRN_INLINE void training_saver::tidy_up() {
  const auto prune = [&] {
    const auto pruned = saver_.prune();
    count([&](save_stats& all) { all.pruned += pruned; });
  };
  prune();
  if (!saver_.is_merge_due()) return;
  saver_.merge([this] { pace_.check(); });
  count([](save_stats& all) { ++all.merged; });
  prune();
}

/// Does a job behind the training; what it throws is kept for the trainer.
template <class Job>
void training_saver::do_behind(const Job& job) {
  const stopwatch watch;
  std::optional<error> failure;
  bool is_abandoned = false;
  try {
    job();
  } catch (const save_abandoned&) {
    is_abandoned = true;
  } catch (const std::exception& cause) {
    failure = as_error(cause, saver_.store().location());
  }
  const std::lock_guard lock(mutex_);
  stats_.background_seconds += watch.seconds();
  stats_.skipped += is_abandoned;
  stats_.failed += failure.has_value();
  if (failure) failure_ = std::move(failure);
  saving_ = false;
}

CAIRN_INLINE void training_saver::published(const save_report& report, std::uint64_t step, double seconds) {
  const std::lock_guard lock(mutex_);
  ++stats_.saves;
  stats_.state_bytes += report.state_bytes;
  stats_.bytes += report.bytes;
  newest_ = report;
  published_step_ = step;
  published_seconds_ = seconds;
}

/// One at a time, from any thread; progress only ever grows.
CAIRN_INLINE void training_saver::tell(const event& what) {
  if (!options_.on_event) return;
  const std::lock_guard one_at_a_time(telling_);
  if (what.what == event::kind::started) told_bytes_ = 0;
  if (what.what == event::kind::progress) {
    if (what.bytes < told_bytes_) return;  // threads may come out of order
    told_bytes_ = what.bytes;
  }
  detail::tell(options_.on_event, what);
}

template <class Change>
void training_saver::count(const Change& change) {
  const std::lock_guard lock(mutex_);
  change(stats_);
}

}  // namespace cairn::detail
