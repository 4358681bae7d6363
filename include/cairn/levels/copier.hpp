// SPDX-License-Identifier: MIT
// Copies the checkpoints of a run from the first place to another one, in a thread of its own: each time the newest.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include <sys/resource.h>

#include "cairn/core/error.hpp"
#include "cairn/event.hpp"
#include "cairn/levels/copy.hpp"
#include "cairn/levels/joint_copy.hpp"
#include "cairn/levels/level_list.hpp"
#include "cairn/options.hpp"
#include "cairn/report.hpp"
#include "cairn/run/checkpoint_list.hpp"
#include "cairn/run/policy_driver.hpp"
#include "cairn/run/progress.hpp"
#include "cairn/system/clock.hpp"
#include "cairn/system/mutex.hpp"
#include "cairn/system/parallel.hpp"

namespace cairn::inline v0_1::detail {

/// The publications at the first place are numbered from 1 on. The functions of level_copies are explained there.
class level_copier {
 public:
  /// Copies to place `number` of `all`. The arguments outlive the copier.
  level_copier(level_list& all, std::size_t number, joint_copy& joint, const checkpointer_options& options,
               observer on_event)
      : all_(all), number_(number), joint_(joint), options_(options), on_event_(std::move(on_event)) {
    stats_.place = place().location();
    removes_.prune_at(all_, number_, [this] {
      auto name = copying();
      return name ? std::set{std::move(*name)} : std::set<std::string>();
    });
  }
  level_copier(const level_copier&) = delete;
  level_copier& operator=(const level_copier&) = delete;
  ~level_copier() {
    {
      const mutex_lock lock(mutex_);
      ends_ = true;
      limiter_.cancel();
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  /// The first call starts the thread of the copier; where that cannot be started, `hurry` tries again.
  void published(const std::string& name) {
    bool lags = false;
    {
      const mutex_lock lock(mutex_);
      waiting_ = publication{name, ++published_};
      lags = copying_ && !lags_ && options().every && clock::now() >= next();
      lags_ = lags_ || lags;
      start();
    }
    changed_.notify_all();
    if (lags)
      emit({.what = event::kind::lagging, .message = "the copy before it takes longer than the time between two"},
           name);
  }
  [[nodiscard]] std::optional<std::string> copying() const {
    const mutex_lock lock(mutex_);
    return copying_ ? std::optional(copying_->name) : std::nullopt;
  }
  /// The newest is copied at once, without limit.
  void hurry() {
    const mutex_lock lock(mutex_);
    if (copied_ >= published_ || wanted_ >= published_ || failed_ >= published_) return;
    start();
    if (std::exchange(hurried_, published_) < published_) {  // what failed before does not hold it back
      retry_ = {};
      tried_ = 0;
    }
    wanted_ = published_;
    if (copying_ && copying_->number < wanted_)
      limiter_.cancel();
    else
      limiter_.remove_limit();
    changed_.notify_all();
  }
  /// After `hurry`.
  [[nodiscard]] bool complete(std::chrono::steady_clock::time_point end) {
    mutex_lock lock(mutex_);
    const auto wanted = published_;
    while (copied_ < wanted && failed_ < wanted && lock.wait_until(changed_, end)) {
    }
    if (copied_ >= wanted || failed_ < wanted) return copied_ >= wanted;
    failed_ = 0;
    throw error(*failure_);
  }
  [[nodiscard]] bool finish(std::chrono::steady_clock::time_point end) {
    mutex_lock lock(mutex_);
    while (is_due() && lock.wait_until(changed_, end)) {
    }
    return !is_due();
  }
  /// The checkpoint is being removed: it is not copied any more. Ends the copy that is being made.
  void forget(const std::string& name) {
    mutex_lock lock(mutex_);
    if (waiting_ && waiting_->name == name) {
      copied_ = std::max(copied_, waiting_->number);
      waiting_.reset();
    }
    if (copying_ && copying_->name == name) copying_->is_forgotten = true;
    if (copying_) limiter_.cancel();
    ++holds_;
    while (copying_) lock.wait(changed_);
    --holds_;
    changed_.notify_all();
  }
  [[nodiscard]] level_stats stats() const {
    const mutex_lock lock(mutex_);
    auto now = stats_;
    now.period = period().value_or(0);
    return now;
  }

  // What the choice of a period needs. None of these waits for a copy.
  [[nodiscard]] bool is_copying() const noexcept { return is_copying_; }
  /// The number of copies that have begun.
  [[nodiscard]] std::uint64_t begun() const noexcept { return begun_; }
  /// Seconds that copies took.
  struct ended_copies {
    double made = 0, failed = 0;
  };
  /// Those that have ended since the last call.
  [[nodiscard]] ended_copies take_ended() {
    if (!has_ended_.exchange(false)) return {};
    const mutex_lock lock(mutex_);
    return std::exchange(ended_, {});
  }
  /// Sets the period that is used if level_options::every is not given.
  void set_period(double seconds) {
    {
      const mutex_lock lock(mutex_);
      if (chosen_period_ == seconds) return;
      chosen_period_ = seconds;
    }
    changed_.notify_all();
  }

 private:
  using clock = std::chrono::steady_clock;
  struct publication {
    std::string name;
    std::uint64_t number = 0;
    bool is_forgotten = false;
  };

  [[nodiscard]] any_store& place() { return all_.place(number_); }
  [[nodiscard]] const level_options& options() const { return all_.options(number_); }
  /// From the beginning of one copy to that of the next, in seconds.
  [[nodiscard]] std::optional<double> period() const CAIRN_REQUIRES(mutex_) {
    const auto& given = options().every;
    return given ? given->count() : chosen_period_;
  }
  void start() {
    if (thread_.joinable()) return;
    thread_ = with_errors(stats_.place, [&] { return start_thread([this] { run(); }); });
  }

  void emit(event what, const std::string& name) noexcept {
    try {
      what.checkpoint = stats_.place + "/" + name;
      what.step = parse_checkpoint_name(name).value_or(0);
      notify(on_event_, what);
    } catch (...) {  // no memory
    }
  }
  void emit_failure(const error& cause, const std::string& name) noexcept {
    try {
      emit({.what = event::kind::failed, .message = std::string(cause.sentence()), .code = cause.code()}, name);
    } catch (...) {  // no memory
    }
  }

  void run() {
    if (!options_.cores.empty()) use_cores(options_.cores);
    // On Linux of this thread, and of those that it starts: the training goes first on cores that both need.
    constexpr int lower = 19;
    ::setpriority(PRIO_PROCESS, 0, lower);
    while (const auto next = next_copy()) {
      const stopwatch watch;
      std::uint64_t bytes = 0;
      std::optional<error> failure;
      try {
        bytes = copy(next->name);
      } catch (...) {
        failure = as_error(std::current_exception(), {stats_.place, "/", next->name, " cannot be copied"});
      }
      if (!failure)
        emit({.what = event::kind::promoted, .bytes = bytes, .total = bytes, .seconds = watch.seconds()}, next->name);
      else if (failure->code() != errc::cancelled)
        emit_failure(*failure, next->name);
      ended(*next, bytes, watch.seconds(), failure);
    }
  }

  /// Whether a copy is being made, or is to be made now.
  [[nodiscard]] bool is_due() const CAIRN_REQUIRES(mutex_) { return copying_ || (waiting_ && clock::now() >= due()); }
  /// When the publication that waits is to be copied.
  [[nodiscard]] clock::time_point due() const CAIRN_REQUIRES(mutex_) {
    const auto retry_at = later(clock::now(), retry_.until() - since_began_.seconds());
    if (waiting_->number == tried_) return retry_at;
    return waiting_->number <= wanted_ ? clock::time_point::min() : std::max<clock::time_point>(next(), retry_at);
  }
  /// When the copy after the newest one is due.
  [[nodiscard]] clock::time_point next() const CAIRN_REQUIRES(mutex_) {
    const auto every = period();
    return began_ && every ? later(*began_, *every) : clock::time_point::min();
  }
  /// Waits for the next publication to copy; nothing at the end.
  [[nodiscard]] std::optional<publication> next_copy() {
    mutex_lock lock(mutex_);
    while (!ends_ && (!waiting_ || holds_ > 0 || clock::now() < due())) {
      if (waiting_ && holds_ == 0)
        lock.wait_until(changed_, due());
      else
        lock.wait(changed_);
    }
    if (ends_) return std::nullopt;
    copying_ = std::exchange(waiting_, std::nullopt);
    lags_ = false;
    limiter_.begin(copying_->number <= wanted_ ? std::nullopt : options().max_bytes_per_second);
    began_ = clock::now();
    begun_ += 1;
    is_copying_ = true;
    return copying_;
  }

  void ended(const publication& of, std::uint64_t bytes, double seconds, const std::optional<error>& failure) {
    {
      const mutex_lock lock(mutex_);
      const bool is_forgotten = copying_->is_forgotten;
      copying_.reset();
      is_copying_ = false;
      (failure ? ended_.failed : ended_.made) += seconds;
      has_ended_ = true;
      if (is_forgotten) copied_ = std::max(copied_, of.number);
      if (!failure) {
        copied_ = of.number;
        retry_ = {};
        ++stats_.copies;
        stats_.step = parse_checkpoint_name(of.name).value_or(0);
        stats_.bytes += bytes;
        stats_.seconds += seconds;
        stats_.last_seconds = seconds - limiter_.held_back();
      } else {
        began_.reset();
        if (!waiting_ && !is_forgotten) waiting_ = of;
        if (failure->code() != errc::cancelled) {
          ++stats_.failed;
          constexpr double least = 0.5;  // seconds to the next try
          const double now = since_began_.seconds();
          retry_.start_delay(now - std::max(seconds, least), now);
          tried_ = of.number;
          if (of.number <= wanted_) {
            failure_ = failure;
            failed_ = of.number;
            wanted_ = 0;
          }
        }
      }
    }
    changed_.notify_all();
  }

  /// Copies a checkpoint and what it is built on, where the place does not have it. Returns the bytes that were copied.
  std::uint64_t copy(const std::string& name) {
    constexpr int most = 5;
    for (int tries = 1;; ++tries) {
      try {
        return copy_chain(name);
      } catch (const error& cause) {  // what it was built on has been merged and removed
        if (cause.code() != errc::not_found || tries == most) throw;
      }
    }
  }
  /// On the disks of several hosts each rank copies its shard.
  [[nodiscard]] shared_work ask_others(const std::string& name) {
    if (!joint_.is_needed()) return {};
    return [this, name](const std::string& attempt, std::uint64_t index) {
      bool is_urgent = false;
      {
        const mutex_lock lock(mutex_);
        is_urgent = copying_->number <= wanted_;
      }
      joint_.ask({0, number_, name, attempt, index, is_urgent}, [this] { limiter_.check(); });
    };
  }
  std::uint64_t copy_chain(const std::string& name) {
    auto& from = all_.place(0);
    std::atomic<std::uint64_t> bytes{0};
    const auto copied = [&](std::uint64_t more) { limiter_.wait_until_allowed(bytes += more); };
    auto names = place().list();
    auto missing = missing_at(place(), names, from, name, [this] { limiter_.check(); });
    all_.set_names(number_, std::move(names));
    for (; !missing.empty(); missing.pop_back()) {
      removes_.forget(missing.back());
      copy_checkpoint(from, missing.back(), place(), copied, ask_others(missing.back()));
      all_.published(number_, missing.back());
    }
    std::ignore = removes_.prune();
    all_.set_names(number_, place().list());
    return bytes;
  }

  level_list& all_;
  std::size_t number_;
  joint_copy& joint_;
  const checkpointer_options& options_;
  observer on_event_;
  checkpoint_list removes_{place(), options_, on_event_};  // for the thread of the copier
  rate_limiter limiter_;
  mutable mutex mutex_;
  std::condition_variable changed_;
  bool ends_ CAIRN_GUARDED_BY(mutex_) = false;
  std::optional<publication> waiting_ CAIRN_GUARDED_BY(mutex_);  // the newest, if it is not copied
  std::optional<publication> copying_ CAIRN_GUARDED_BY(mutex_);
  std::uint64_t published_ CAIRN_GUARDED_BY(mutex_) = 0;  // number of the newest
  std::uint64_t copied_ CAIRN_GUARDED_BY(mutex_) = 0;     // of the newest that is copied
  std::uint64_t wanted_ CAIRN_GUARDED_BY(mutex_) = 0;     // up to which `complete` wants all copied at once
  std::uint64_t hurried_ CAIRN_GUARDED_BY(mutex_) = 0;    // of the newest that `hurry` was called for
  std::uint64_t failed_ CAIRN_GUARDED_BY(mutex_) = 0;     // of a wanted one that could not be copied, for `failure_`
  std::optional<error> failure_ CAIRN_GUARDED_BY(mutex_);
  std::uint64_t tried_ CAIRN_GUARDED_BY(mutex_) = 0;                 // of the last one that could not be copied
  unsigned holds_ CAIRN_GUARDED_BY(mutex_) = 0;                      // calls of `forget` during which no copy begins
  bool lags_ CAIRN_GUARDED_BY(mutex_) = false;                       // reported of this copy
  std::optional<clock::time_point> began_ CAIRN_GUARDED_BY(mutex_);  // the newest copy, unless it has failed
  const stopwatch since_began_{};
  retry_delay retry_ CAIRN_GUARDED_BY(mutex_);  // by that
  level_stats stats_;                           // `place` never changes; the others are guarded by mutex_
  std::optional<double> chosen_period_ CAIRN_GUARDED_BY(mutex_);  // none: not known yet
  ended_copies ended_ CAIRN_GUARDED_BY(mutex_);                   // since the training thread has asked
  // For the training thread:
  std::atomic<bool> has_ended_{false};
  std::atomic<std::uint64_t> begun_{0};  // copies
  std::atomic<bool> is_copying_{false};
  std::thread thread_;  // started with mutex_ locked
};

}  // namespace cairn::inline v0_1::detail
