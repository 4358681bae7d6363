// SPDX-License-Identifier: MIT
// What the training thread and the background thread share: the result of one save, which its handles wait for, and the
// limit that holds it back; the events, totals and newest checkpoint of the run.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "cairn/core/encoding.hpp"
#include "cairn/core/error.hpp"
#include "cairn/event.hpp"
#include "cairn/report.hpp"
#include "cairn/schedule/base.hpp"
#include "cairn/system/clock.hpp"
#include "cairn/system/mutex.hpp"
#include "cairn/system/owner_process.hpp"

namespace cairn::inline v0_1::detail {

/// Shared, so that a save can be ended without new memory.
using shared_report = std::shared_ptr<const save_report>;

/// The result of one save, for which its handles wait. Thread-safe. In a forked child, which has no thread to end the
/// save, `done`, `wait` and `get` throw errc::invalid.
class save_result {
 public:
  void published(shared_report report) noexcept { end(std::move(report), nullptr); }
  void set_error(const error& cause) noexcept { end(nullptr, &cause); }

  [[nodiscard]] bool done() const {
    owner_.check("this save");
    const mutex_lock lock(mutex_);
    return has_ended();
  }
  void wait() const {
    owner_.check("this save");
    mutex_lock lock(mutex_);
    while (!has_ended()) lock.wait(ended_);
  }
  /// Waits; throws the error of a save that failed or was cancelled.
  [[nodiscard]] save_report get() const {
    wait();
    const mutex_lock lock(mutex_);
    if (failure_) throw error(*failure_);
    return *report_;
  }

 private:
  void end(shared_report report, const error* failure) {
    const mutex_lock lock(mutex_);
    if (!has_ended()) {
      report_ = std::move(report);
      if (failure != nullptr) failure_ = *failure;
    }
    ended_.notify_all();
  }
  [[nodiscard]] bool has_ended() const noexcept CAIRN_REQUIRES(mutex_) { return report_ != nullptr || failure_; }

  owner_process owner_;
  mutable mutex mutex_;
  mutable std::condition_variable ended_;
  shared_report report_ CAIRN_GUARDED_BY(mutex_);
  std::optional<error> failure_ CAIRN_GUARDED_BY(mutex_);
};

/// A published checkpoint, and when its background work began; for a synchronous save, when it was published.
struct published_save {
  std::uint64_t step = 0;
  double seconds = 0;      // of the run
  shared_report report{};  // none: of an earlier process
  save_kind kind = save_kind::whole;
  bool synchronous = false;  // the trainer waited for all of it
  double held_back = 0;      // part of the report's `write_seconds`: waits for the limit on bytes per second
};

/// Events, totals and the newest checkpoint of the run. Thread-safe.
class run_record {
 public:
  explicit run_record(const observer& on_event) : on_event_(on_event) {}

  /// Notifies the observer, one event at a time. Progress never decreases.
  void emit(const event& what) {
    if (!on_event_) return;
    const mutex_lock lock(emitting_);
    if (what.what == event::kind::started) progress_ = 0;
    if (what.what == event::kind::progress) {
      if (what.bytes < progress_) return;  // threads may come out of order
      progress_ = what.bytes;
    }
    detail::notify(on_event_, what);
  }

  /// Restarts the timer of `idle_seconds`: the running save has made progress, or is held back on purpose.
  void touch() noexcept { touched_ = std::chrono::steady_clock::now().time_since_epoch(); }
  /// Seconds since the newest `touch`.
  [[nodiscard]] double idle_seconds() const noexcept {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch() - touched_.load()).count();
  }

  /// Calls `change(totals)`.
  template <class Change>
  void count(const Change& change) {
    const mutex_lock lock(mutex_);
    change(stats_);
  }
  [[nodiscard]] save_stats stats() const {
    const mutex_lock lock(mutex_);
    return stats_;
  }

  void set_newest(published_save newest) noexcept {
    const mutex_lock lock(mutex_);
    if (newest.report) {
      ++stats_.saves;
      stats_.state_bytes += newest.report->state_bytes;
      stats_.bytes += newest.report->bytes;
    }
    newest_ = std::move(newest);
    is_new_ = newest_->report != nullptr;
  }
  [[nodiscard]] std::optional<published_save> newest() const noexcept {
    const mutex_lock lock(mutex_);
    return newest_;
  }

  /// The newest checkpoint, once, if it is of this process.
  [[nodiscard]] std::optional<published_save> take_published() noexcept {
    if (!is_new_ || !is_new_.exchange(false)) return std::nullopt;  // the usual case, without the lock
    return newest();
  }

 private:
  const observer& on_event_;
  std::atomic<std::chrono::steady_clock::duration> touched_{};
  mutex emitting_;
  std::uint64_t progress_ CAIRN_GUARDED_BY(emitting_) = 0;
  mutable mutex mutex_;
  save_stats stats_ CAIRN_GUARDED_BY(mutex_);
  std::optional<published_save> newest_ CAIRN_GUARDED_BY(mutex_);
  std::atomic<bool> is_new_{false};
};

/// Limits one save to a number of bytes per second, and ends it when it is cancelled. Thread-safe.
class rate_limiter {
 public:
  using clock = std::chrono::steady_clock;

  /// A new save begins. nullopt: no limit.
  void begin(std::optional<double> bytes_per_second) {
    const mutex_lock lock(mutex_);
    bytes_per_second_ = bytes_per_second;
    first_.reset();
    held_back_ = {};
    cancelled_ = false;
  }

  /// The bytes are counted from 0 again, as for the merge after a save. A cancellation stays.
  void count_anew() {
    const mutex_lock lock(mutex_);
    first_.reset();
  }

  /// The save ends at its next `check` or `wait_until_allowed`.
  void cancel() {
    const mutex_lock lock(mutex_);
    cancelled_ = true;
    changed_.notify_all();
  }

  /// Removes the limit for the rest of this save.
  void remove_limit() {
    const mutex_lock lock(mutex_);
    bytes_per_second_.reset();
    changed_.notify_all();
  }

  /// Throws errc::cancelled after `cancel`.
  void check() const {
    if (cancelled_) fail(errc::cancelled, {"cancelled for a newer save or the end of the run"});
  }

  /// Returns as soon as the limit allows `bytes` bytes in all since the first call. Throws as `check` does.
  void wait_until_allowed(std::uint64_t bytes) {
    mutex_lock lock(mutex_);
    const auto now = clock::now();
    if (!first_) first_ = now;
    if (bytes_per_second_) {
      const auto due = later(*first_, static_cast<double>(bytes) / *bytes_per_second_);
      if (waiting_++ == 0) since_ = now;
      while (!cancelled_ && bytes_per_second_ && lock.wait_until(changed_, due)) {
      }
      if (--waiting_ == 0) held_back_ += clock::now() - since_;
    }
    check();
  }

  /// Does a thread wait for the limit now?
  [[nodiscard]] bool is_holding() const {
    const mutex_lock lock(mutex_);
    return waiting_ != 0;
  }

  /// Seconds of this save in which some thread waited for the limit.
  [[nodiscard]] double held_back() const {
    const mutex_lock lock(mutex_);
    return held_back_.count();
  }

 private:
  mutable mutex mutex_;
  std::condition_variable changed_;
  std::optional<double> bytes_per_second_ CAIRN_GUARDED_BY(mutex_);
  std::optional<clock::time_point> first_ CAIRN_GUARDED_BY(mutex_);  // call of `wait_until_allowed`
  unsigned waiting_ CAIRN_GUARDED_BY(mutex_) = 0;                    // threads
  clock::time_point since_ CAIRN_GUARDED_BY(mutex_);                 // the first of these waits
  std::chrono::duration<double> held_back_ CAIRN_GUARDED_BY(mutex_){};
  std::atomic<bool> cancelled_{false};
};

}  // namespace cairn::inline v0_1::detail
