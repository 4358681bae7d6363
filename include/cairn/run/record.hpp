// What the trainer and the thread behind it both know of the saves of a run: events, totals, the newest checkpoint, an error.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

#include "cairn/core/error.hpp"
#include "cairn/event.hpp"
#include "cairn/save.hpp"
#include "cairn/report.hpp"
#include "cairn/schedule/base.hpp"

namespace cairn::detail {

/// A published checkpoint, and when its save began.
struct published_save {
  std::uint64_t step = 0;
  double seconds = 0;                   // of the run
  std::optional<save_report> report{};  // none: of an earlier process
  save_kind kind = save_kind::whole;
  bool in_front = false;  // the trainer waited for all of it
  double held_back = 0;   // of the report's seconds of writing: spent waiting for the limit on bytes per second
};

/// Thread-safe.
class run_record {
 public:
  explicit run_record(const observer& on_event) : on_event_(on_event) {}

  /// Tells the observer, one event at a time; progress only ever grows.
  void tell(const event& what) {
    if (!on_event_) return;
    const std::lock_guard one_at_a_time(telling_);
    if (what.what == event::kind::started) told_bytes_ = 0;
    if (what.what == event::kind::progress) {
      if (what.bytes < told_bytes_) return;  // threads may come out of order
      told_bytes_ = what.bytes;
    }
    detail::tell(on_event_, what);
  }

  template <class Change>
  void count(const Change& change) {
    const std::lock_guard lock(mutex_);
    change(stats_);
  }
  [[nodiscard]] save_stats stats() const {
    const std::lock_guard lock(mutex_);
    return stats_;
  }

  void published(published_save newest) {
    const std::lock_guard lock(mutex_);
    if (newest.report) {
      ++stats_.saves;
      stats_.state_bytes += newest.report->state_bytes;
      stats_.bytes += newest.report->bytes;
    }
    newest_ = std::move(newest);
    has_news_ = newest_->report.has_value();
  }
  [[nodiscard]] std::optional<published_save> newest() const {
    const std::lock_guard lock(mutex_);
    return newest_;
  }

  /// The newest checkpoint, once, if it is of this process.
  [[nodiscard]] std::optional<published_save> take_news() {
    if (!has_news_ || !has_news_.exchange(false)) return std::nullopt;  // most often there are none
    return newest();
  }

  /// Keeps an error of the thread behind for the trainer.
  void keep(const error& failure) {
    const std::lock_guard lock(mutex_);
    ++stats_.failed;
    failure_ = failure;
  }
  /// The error that is kept, once.
  [[nodiscard]] std::optional<error> take_failure() {
    const std::lock_guard lock(mutex_);
    return std::exchange(failure_, std::nullopt);
  }

 private:
  const observer& on_event_;
  std::mutex telling_;
  std::uint64_t told_bytes_ = 0;
  mutable std::mutex mutex_;  // of what comes next
  save_stats stats_;
  std::optional<published_save> newest_;
  std::atomic<bool> has_news_{false};
  std::optional<error> failure_;
};

}  // namespace cairn::detail
