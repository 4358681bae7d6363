// Definitions of session.hpp.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <future>
#include <string>
#include <utility>

#include "cairn/chain/leaf_encoder.hpp"
#include "cairn/run/stop_plan.hpp"
#include "cairn/run/session.hpp"

namespace cairn::detail {

inline constexpr std::uint64_t least_staging_bytes = std::uint64_t{1} << 20U;

CAIRN_INLINE session::session(any_store store, checkpointer_options options)
    : options_(std::move(options)),
      policy_(options_.when),
      record_(options_.on_event),
      staging_([this](const leaf& whole, std::size_t bytes) { return room_to_encode(whole, bytes, options_.codecs); }),
      series_(std::move(store), options_, [this](const event& what) { record_.tell(what); }) {
  if (options_.max_staging_bytes < least_staging_bytes)
    fail(errc::invalid, {"max_staging_bytes is ", std::to_string(options_.max_staging_bytes), ", and below 1 MiB"});
  if (!(options_.max_bytes_per_second >= 0))
    fail(errc::invalid, {"max_bytes_per_second is ", std::to_string(options_.max_bytes_per_second)});
}

CAIRN_INLINE session::~session() {
  if (options_.on_destruction == when_destroyed::abandon) limiter_.abandon();
  background_.wait();
}

CAIRN_INLINE std::optional<load_report> session::restore(any_mutable_state state, const load_options& options) {
  background_.wait();
  rethrow_failure();
  learn();
  auto report = series_.restore(state, options);
  if (report) {
    record_.published({.step = report->step});
    policy_.restored(*report);
  }
  prepare(state);
  policy_.resume_training();
  return report;
}

/// Has the memory for the copies made ready behind the training, so that the first save does not wait for it.
CAIRN_INLINE void session::prepare(any_state state) {
  if (!options_.asynchronous || prepared_ || saving_) return;
  prepared_ = true;
  background_.wait();
  const auto bytes = plan_staging(staging_, describe(state).leaves, options_.shards, options_.max_staging_bytes).bytes;
  background_.start([this, bytes] { do_behind([&] { staging_.reserve(bytes, 1); }); });
  policy_.resume_training();
}

CAIRN_INLINE step_outcome session::step(any_state state, const observation& now) {
  if (poll()) return stop(state, now);
  rethrow_failure();
  learn();
  const auto decided = policy_.ask(now, saving_);
  if (!decided) {
    prepare(state);
    return {};
  }
  try {
    const auto outcome = save_now(state, now, decided.kind);
    policy_.resume_training();
    return outcome;
  } catch (...) {
    policy_.resume_training();
    throw;
  }
}

CAIRN_INLINE step_outcome session::save_now(any_state state, const observation& now, std::optional<save_kind> kind) {
  const stopwatch stall;
  if (!options_.asynchronous) {
    save_in_front(state, now, kind, false);
    return {.started = true, .stall_seconds = stall.seconds()};
  }
  if (!make_way(now)) return {.skipped = true, .stall_seconds = stall.seconds()};
  start(state, now, kind);
  return {.started = true, .stall_seconds = stalled(stall)};
}

/// Waits for the save on its way, or abandons it, as the options say. False: it goes first.
CAIRN_INLINE bool session::make_way(const observation& now) {
  const bool is_busy = saving_, replaces = is_busy && options_.on_busy == when_busy::replace && !is_replacing_;
  if (is_busy && !replaces && options_.on_busy != when_busy::wait) {
    if (std::exchange(told_skipped_, policy_.saved_step()) == policy_.saved_step()) return false;
    record_.count([](save_stats& all) { ++all.skipped; });
    record_.tell({.what = event::kind::skipped,
                  .checkpoint = series_.path_of(now.step),
                  .step = now.step,
                  .message = "step " + std::to_string(policy_.saved_step()) + " is still being saved"});
    return false;
  }
  if (replaces) limiter_.abandon();
  is_replacing_ = replaces;
  background_.wait();
  rethrow_failure();
  learn();
  if (replaces) policy_.fall_back(record_.newest().value_or(published_save{}));
  return true;
}

/// Copies the state and starts the save of the copy. What fails here is thrown at once.
CAIRN_INLINE void session::start(any_state state, const observation& now, std::optional<save_kind> kind) {
  const stopwatch stall;
  auto request = std::make_shared<save_request>(request_of(describe(state), now, options_, kind));
  request->steps.notes = policy_.notes(false);
  if (request->threads == 0) request->threads = 1;  // the training has the others
  const event about{.checkpoint = series_.path_of(now.step), .step = now.step, .total = request->state_bytes()};
  const auto tell_of = [this, about](event::kind what, const std::string& message, double seconds) {
    auto told = about;
    told.what = what;
    told.message = message;
    told.seconds = seconds;
    if (what == event::kind::copied) told.bytes = told.total;
    record_.tell(told);
  };
  tell_of(event::kind::started, {}, 0);
  const auto copied = [tell_of, stall] { tell_of(event::kind::copied, {}, stall.seconds()); };
  limiter_.begin(options_.max_bytes_per_second);
  try {
    auto plan = plan_staging(staging_, request->what.leaves, options_.shards, options_.max_staging_bytes);
    if (plan.in_parts) {
      tell_of(event::kind::chunked, "copied in " + std::to_string(plan.shards.size()) + " parts", 0);
      copy_in_parts(std::move(request), std::move(plan.shards), copied);
    } else {
      staging_.copy(request->what.leaves, plan.shards, options_.copy_threads);
      copied();
      request->steps.shards = std::move(plan.shards);
      save_behind(std::move(request));
    }
  } catch (const error& cause) {
    record_.count([](save_stats& all) { ++all.failed; });
    tell_of(event::kind::failed, cause.what(), stall.seconds());
    throw;
  }
}

/// A save is on its way from now on.
CAIRN_INLINE void session::save_behind(std::shared_ptr<save_request> request) {
  policy_.began(request->step);
  saving_ = true;
  background_.start([this, request, begun = policy_.saved_seconds()] { save_copy(*request, begun); });
}

/// Has the thread behind copy the state part by part, as memory gets free, and waits until it has copied the last one.
CAIRN_INLINE void session::copy_in_parts(std::shared_ptr<save_request> request, division parts,
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
  request->steps.shards = std::move(parts);
  last_copied.reset();
  save_behind(std::move(request));
  is_copied.wait();  // a save that ends before the last part is copied lets go of the promise
  policy_.awaited();
}

CAIRN_INLINE save_report session::save(any_state state, const observation& now) {
  auto report = save_in_front(state, now, std::nullopt, true);
  policy_.resume_training();
  return report;
}

CAIRN_INLINE save_report session::save_in_front(any_state state, const observation& now, std::optional<save_kind> kind,
                                                bool may_be_last) {
  background_.wait();
  rethrow_failure();
  learn();
  const stopwatch stall;
  auto request = request_of(describe(state), now, options_, kind);
  request.steps.notes = policy_.notes(may_be_last);
  auto report = save_here(std::move(request));
  stalled(stall);
  if (series_.is_merge_due()) {
    saving_ = true;
    limiter_.begin(0);
    background_.start([this] { do_behind([&] { tidy_up(); }); });
  }
  return report;
}

/// Saves from the state's own memory, in the trainer's thread.
CAIRN_INLINE save_report session::save_here(save_request request) {
  const auto step = request.step;
  const event about{.checkpoint = series_.path_of(step), .step = step, .total = request.state_bytes()};
  record_.tell(about);  // that it has started
  request.steps.progress = tell_progress(about);
  try {
    auto report = series_.save(request);
    policy_.began(step);
    record_.published({step, policy_.saved_seconds(), report, kind_of(request, report), true});
    prune();
    return report;
  } catch (const error&) {
    record_.count([](save_stats& all) { ++all.failed; });
    throw;
  }
}

/// Tells of bytes written; from any thread.
CAIRN_INLINE std::function<void(std::uint64_t, std::uint64_t)> session::tell_progress(const event& about) {
  return [this, about](std::uint64_t bytes, std::uint64_t total) {
    auto told = about;
    told.what = event::kind::progress;
    told.bytes = bytes;
    told.total = total;
    record_.tell(told);
  };
}

/// The trainer has waited since then.
CAIRN_INLINE double session::stalled(const stopwatch& since) {
  const double seconds = since.seconds();
  record_.count([&](save_stats& all) { all.stalled(seconds); });
  policy_.waited(seconds);
  return seconds;
}

/// Tells the policy of what was published since.
CAIRN_INLINE void session::learn() {
  if (const auto newest = record_.take_news()) policy_.published(*newest);
}

/// Throws what went wrong behind the training. The policy then knows that the newest save has come to nothing.
CAIRN_INLINE void session::rethrow_failure() {
  const auto failure = record_.take_failure();
  if (!failure) return;
  background_.wait();
  policy_.fall_back(record_.newest().value_or(published_save{}));
  throw error(*failure);
}

/// Saves what there is, as well as the time that is left allows; an error of the thread behind is left for `wait`.
CAIRN_INLINE step_outcome session::stop(any_state state, const observation& now) {
  if (stopped_step_ == now.step) return {.stop = true};
  const stopwatch stall;
  const auto left = [&] { return options_.preempt_deadline.count() - options_.preempt.seconds_since(); };
  const int number = options_.preempt.number();
  record_.tell({.what = event::kind::stopping,
                .step = now.step,
                .seconds = left(),
                .message = sentence({"signal ", std::to_string(number), ", ", ::strsignal(number)})});
  auto request = request_of(describe(state), now, options_);
  const auto plan = plan_preempt(left(), request.state_bytes(), record_.newest());
  limiter_.hurry();
  if (!background_.wait_for(std::chrono::duration<double>(plan.grace_seconds))) limiter_.abandon();
  background_.wait();
  learn();
  step_outcome outcome{.stop = true};
  const auto newest = record_.newest();
  if (!newest || newest->step != now.step) {
    request.threads = options_.threads;
    request.steps.notes = policy_.notes(true);
    if (plan.as_raw) {
      request.kind = save_kind::raw;
      request.codecs = {{"*", codecs::raw{}}};
    }
    save_here(std::move(request));
    outcome.started = true;
  }
  stopped_step_ = now.step;
  outcome.stall_seconds = stalled(stall);
  return outcome;
}

}  // namespace cairn::detail
