// SPDX-License-Identifier: MIT
// The state of one save, running or ended, which the checkpointer shares with the handles of the save.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "cairn/core/error.hpp"
#include "cairn/core/save_report.hpp"
#include "cairn/system/owner_process.hpp"

namespace cairn::inline v0_1::detail {

/// Thread-safe. In a forked child, which has no thread that ends the save, `done`, `wait` and `get` throw errc::invalid.
class save_progress {
 public:
  void published(save_report report) {
    end([&] { report_ = std::move(report); });
  }
  void failed(const error& cause) {
    end([&] { failure_ = cause; });
  }

  [[nodiscard]] bool done() const {
    owner_.check(name);
    const std::lock_guard lock(mutex_);
    return has_ended();
  }
  void wait() const {
    owner_.check(name);
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [&] { return has_ended(); });
  }
  /// Waits; throws the error of a save that failed or was cancelled.
  [[nodiscard]] save_report get() const {
    wait();
    const std::lock_guard lock(mutex_);
    if (failure_) throw error(*failure_);
    return *report_;
  }

 private:
  template <class Change>
  void end(const Change& change) {
    {
      const std::lock_guard lock(mutex_);
      if (!has_ended()) change();
    }
    ended_.notify_all();
  }
  [[nodiscard]] bool has_ended() const noexcept { return report_ || failure_; }

  static constexpr std::string_view name = "this save";

  owner_process owner_;
  mutable std::mutex mutex_;
  mutable std::condition_variable ended_;
  std::optional<save_report> report_;  // guarded by mutex_
  std::optional<error> failure_;       // guarded by mutex_
};

}  // namespace cairn::inline v0_1::detail
