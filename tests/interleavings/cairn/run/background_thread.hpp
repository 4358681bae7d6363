// SPDX-License-Identifier: MIT
// In place of Cairn's header: the thread is one of the scheduler that runs the caller. Without a scheduler, the caller
// runs the jobs.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "interleavings/scheduler.hpp"

namespace cairn::detail {

class background_thread {
 public:
  explicit background_thread(const std::set<unsigned>& /*cores*/ = {}) {}
  background_thread(const background_thread&) = delete;
  background_thread& operator=(const background_thread&) = delete;
  ~background_thread() {
    ends_ = true;
    if (thread_) wait_until("the end of the background thread", [&] { return scheduler_->has_ended(*thread_); });
  }

  void start(std::function<void()> job, bool /*needs_caller*/ = false) {
    if (scheduler_ == nullptr) return job();
    job_ = std::move(job);
    if (!thread_) {
      const auto process = scheduler_->process_of_this_thread();
      const auto name = "the background thread of rank " + std::to_string(process);
      thread_ = scheduler_->start(process, name, [this] { run(); });
    }
    yield("the start of a job");
  }

  [[nodiscard]] bool wait_for(std::chrono::duration<double> longest) const {
    if (job_) scheduler_->pause(longest.count());
    return !job_;
  }

  void wait() const {
    if (job_) wait_until("the end of a job", [&] { return !job_; });
  }

 private:
  void wait_until(const char* what, const std::function<bool()>& is_over) const {
    scheduler_->wait(what, is_over, interleavings::patience::forever);
  }

  /// Another thread may run. Not scheduler::yield, which fails in the threads of a killed process.
  void yield(const char* at) const {
    wait_until(at, [] { return true; });
  }

  void run() {
    while (true) {
      wait_until("a job", [&] { return ends_ || job_; });
      if (!job_) return;
      job_();
      yield("the end of its job");
      job_ = nullptr;
    }
  }

  interleavings::scheduler* scheduler_ = interleavings::scheduler::of_this_thread();
  std::function<void()> job_;  // empty when done
  bool ends_ = false;
  std::optional<std::size_t> thread_{};
};

}  // namespace cairn::detail
