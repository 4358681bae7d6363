// SPDX-License-Identifier: MIT
// A copy of a checkpoint from the disks of several hosts to a place that all ranks reach: each rank copies its shard.
//
// The copier at rank 0 begins the checkpoint there, asks the others to join it, and publishes it when they are done.
// Requests and answers go with the rounds of the checkpointer, see session::pass_requests.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <sys/resource.h>

#include "cairn/core/error.hpp"
#include "cairn/levels/copy.hpp"
#include "cairn/levels/level_list.hpp"
#include "cairn/options.hpp"
#include "cairn/run/progress.hpp"
#include "cairn/store/index.hpp"
#include "cairn/system/json.hpp"
#include "cairn/system/mutex.hpp"
#include "cairn/system/parallel.hpp"

namespace cairn::inline v0_1::detail {

/// What rank 0 asks the others for.
struct copy_request {
  std::uint64_t number = 0;  ///< from 1 on
  std::uint64_t place = 0;   ///< number of the level
  std::string name{};        ///< of the checkpoint
  std::string attempt{};     ///< see stores::transaction
  std::uint64_t index = 0;   ///< checksum of the index: detects a newer publication
  bool is_urgent = false;    ///< the limit on bytes per second does not hold
};

template <class Io>
void describe(Io& io, described<Io, copy_request>& request) {
  io.object([&] {
    io.field("number", request.number);
    io.field("place", request.place);
    io.field("name", request.name);
    io.field("attempt", request.attempt);
    io.field("index", request.index);
    io.optional("urgent", request.is_urgent);
  });
}

/// Thread-safe. One request at a time.
class joint_copy {
 public:
  /// `all` and `options` outlive it.
  joint_copy(level_list& all, const checkpointer_options& options, unsigned rank, unsigned ranks)
      : all_(all), options_(options), rank_(rank), is_needed_(ranks > 1 && all.place(0).hosts()) {}
  joint_copy(const joint_copy&) = delete;
  joint_copy& operator=(const joint_copy&) = delete;
  ~joint_copy() {
    {
      const mutex_lock lock(mutex_);
      ++asked_;  // the present request is given up
    }
    limiter_.cancel();
    if (thread_.joinable()) thread_.join();
  }

  /// Whether each rank has one shard alone.
  [[nodiscard]] bool is_needed() const noexcept { return is_needed_; }
  /// At rank 0, in the thread of a copier: the others copy their shards into the checkpoint that has been begun, see
  /// copy_request. Waits for that; `check()` is called meanwhile, and ends it by what it throws. A failure at a rank is
  /// errc::io.
  void ask(copy_request what, const std::function<void()>& check) {
    constexpr std::chrono::milliseconds pause(20);
    mutex_lock lock(mutex_);
    const auto wait = [&] {
      check();
      lock.wait_until(changed_, std::chrono::steady_clock::now() + pause);
    };
    while (is_asking_) wait();
    is_asking_ = true;
    what.number = ++asked_;
    failure_.clear();
    try {
      request_ = to_json(what);
      while (answered_ != what.number) wait();
    } catch (...) {
      request_.clear();
      is_asking_ = false;
      throw;
    }
    is_asking_ = false;
    if (!failure_.empty()) fail(errc::io, {failure_});
  }
  /// At rank 0: what the others are to be asked; empty: nothing.
  [[nodiscard]] std::string request() const {
    const mutex_lock lock(mutex_);
    return request_;
  }
  /// At all ranks, with that text: the others begin to copy.
  void requested(std::string_view text) {
    const auto request = from_json<copy_request>(text, "what rank 0 asks for");
    const mutex_lock lock(mutex_);
    if (rank_ == 0) {
      if (request_ == text) request_.clear();
      done_ = request.number;
      return;
    }
    asked_ = request.number;
    limiter_.cancel();  // of an earlier request, which rank 0 has given up
    const auto former = std::make_shared<std::thread>();
    try {
      former->swap(thread_);
      thread_ = start_thread([this, request, former] {
        if (former->joinable()) former->join();
        copy(request);
      });
    } catch (...) {
      former->swap(thread_);
      note_done(request.number, failure_text(request));
    }
  }
  /// The number of the last request that this rank is done with; at rank 0, that the others have got.
  [[nodiscard]] std::uint64_t done() const {
    const mutex_lock lock(mutex_);
    return done_;
  }
  /// What has failed at this rank; empty: nothing.
  [[nodiscard]] std::string failure() const {
    const mutex_lock lock(mutex_);
    return rank_ == 0 ? std::string() : failure_;
  }
  /// At rank 0: all others are done with the request, with what has failed at each rank.
  void answered(std::uint64_t number, std::span<const std::string> failures) {
    {
      const mutex_lock lock(mutex_);
      if (number != asked_) return;
      for (std::size_t rank = 0; rank < failures.size() && failure_.empty(); ++rank)
        if (!failures[rank].empty()) failure_ = sentence({"rank ", rank, ": ", failures[rank]});
      answered_ = number;
    }
    changed_.notify_all();
  }
  /// The present request is no longer held back.
  void hurry() { limiter_.remove_limit(); }

 private:
  [[nodiscard]] static std::string failure_text(const copy_request& request) {
    return std::string(as_error(std::current_exception(), {request.name, " cannot be copied"}).sentence());
  }
  void note_done(std::uint64_t number, std::string failure) CAIRN_REQUIRES(mutex_) {
    if (number != asked_) return;
    failure_ = std::move(failure);
    done_ = number;
  }
  /// In a thread of its own.
  void copy(const copy_request& request) {
    std::string failure;
    std::unique_ptr<stores::transaction> made;
    try {
      if (!options_.cores.empty()) use_cores(options_.cores);
      constexpr int lower = 19;  // as the thread of a copier
      ::setpriority(PRIO_PROCESS, 0, lower);
      {
        const mutex_lock lock(mutex_);
        if (request.number != asked_) return;
        limiter_.begin(request.is_urgent ? std::nullopt : all_.options(request.place).max_bytes_per_second);
      }
      std::atomic<std::uint64_t> bytes{0};
      const auto there = all_.place(0).open(request.name);
      const auto text = read_index_text(*there);
      if (checksum(std::as_bytes(std::span(text))) != request.index)
        fail(errc::not_found, {there->location(), " has been published again"});
      const auto index = parse_index(text, there->location(), index_part::metadata);
      made = all_.place(request.place).join(request.name, request.attempt);
      if (rank_ < index.shards.size())
        copy_shard(*there, index.shards[rank_], *made, [&](std::uint64_t more) {
          limiter_.wait_until_allowed(bytes += more);
          const mutex_lock lock(mutex_);
          if (request.number != asked_) limiter_.cancel();
        });
      made->prepare();
    } catch (...) {
      failure = failure_text(request);
    }
    const mutex_lock lock(mutex_);
    if (!failure.empty()) made.reset();
    if (made) made_ = std::move(made);
    note_done(request.number, std::move(failure));
  }

  level_list& all_;
  const checkpointer_options& options_;
  const unsigned rank_;
  const bool is_needed_;
  rate_limiter limiter_;
  mutable mutex mutex_;
  std::condition_variable changed_;
  bool is_asking_ CAIRN_GUARDED_BY(mutex_) = false;
  std::uint64_t asked_ CAIRN_GUARDED_BY(mutex_) = 0;     // the newest request
  std::uint64_t done_ CAIRN_GUARDED_BY(mutex_) = 0;      // see done
  std::uint64_t answered_ CAIRN_GUARDED_BY(mutex_) = 0;  // at rank 0
  std::string request_ CAIRN_GUARDED_BY(mutex_);         // at rank 0, until the others have it
  std::string failure_ CAIRN_GUARDED_BY(mutex_);
  std::unique_ptr<stores::transaction> made_ CAIRN_GUARDED_BY(mutex_);  // kept: destroyed early, it removes files
  std::thread thread_ CAIRN_GUARDED_BY(mutex_);
};

}  // namespace cairn::inline v0_1::detail
