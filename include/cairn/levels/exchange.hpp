// SPDX-License-Identifier: MIT
// Messages that ranks send to each other, with parts of files. The thread that calls the group passes them on (`pump`),
// while another one reads and writes the files (`work`).
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <list>
#include <new>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cairn/core/error.hpp"
#include "cairn/group/team.hpp"
#include "cairn/system/mutex.hpp"

namespace cairn::inline v0_1::detail {

/// Messages from or to another rank: `rows` times `bytes`, as `piece` bytes of each row at a time.
struct message_list {
  unsigned rank = 0;
  std::uint64_t bytes = 0, piece = 0, rows = 1;

  [[nodiscard]] std::uint64_t count() const { return (bytes + piece - 1) / piece; }
  [[nodiscard]] std::size_t size(std::uint64_t number) const {
    return static_cast<std::size_t>(rows * std::min(piece, bytes - number * piece));
  }
};

/// Messages to another rank. `read` fills one; none: they cannot be read, and are sent all the same.
struct outgoing_list {
  message_list all{};
  std::function<void(std::uint64_t number, std::span<std::byte>)> read{};
};

/// Takes the message `number` of each rank that sends; empty for those that have sent all.
using write_messages = std::function<void(std::uint64_t number, std::span<const std::span<const std::byte>>)>;

/// After the messages to a rank there is one of a byte that says whether all could be read. What fails at a rank ends
/// no messages: all are exchanged.
class exchange {
 public:
  /// `channel`: see messaging_group.
  exchange(std::vector<outgoing_list> sends, std::vector<message_list> receives, write_messages write, unsigned channel)
      : window_(std::max<std::size_t>(most_messages / std::max({sends.size(), receives.size(), std::size_t{1}}), 2)),
        write_(std::move(write)),
        channel_(channel) {
    for (auto& each : sends) outgoing_.emplace_back().of = std::move(each);
    for (const auto& each : receives) incoming_.emplace_back().of = each;
    next_.resize(receives.size());
    messages_.resize(receives.size());
  }

  /// In the thread that calls the group: starts messages, and takes those that have arrived. Never waits. Returns
  /// whether there were any.
  bool pump(team& ranks) {
    bool has_moved = false;
    for (auto& each : outgoing_) {
      while (!each.started.empty() && ranks.test(*each.started.front())) each.started.pop_front();
      while (each.started.size() < window_) {
        auto message = take(each);
        if (!message) break;
        each.started.push_back(ranks.send(*std::move(message), each.of.all.rank, channel_));
        has_moved = true;
      }
      const mutex_lock lock(mutex_);
      each.is_sent = each.started.empty() && each.read == all_of(each.of.all) && each.messages.empty();
    }
    for (auto& each : incoming_) {
      for (; each.started.size() < window_ && each.posted < all_of(each.of); ++each.posted)
        each.started.push_back(ranks.receive(size_of(each.of, each.posted), each.of.rank, channel_));
      while (has_room(each) && !each.started.empty() && ranks.test(*each.started.front())) {
        const mutex_lock lock(mutex_);
        each.arrived.push_back(std::move(each.started.front()));
        each.started.pop_front();
        has_moved = true;
      }
    }
    {
      const mutex_lock lock(mutex_);
      lacks_memory_ = false;
    }
    changed_.notify_all();
    return has_moved;
  }
  /// In another thread: reads and writes until all is done, or cancelled.
  void work() {
    while (true) {
      for (auto& each : outgoing_) read_next(each);
      write_next();
      mutex_lock lock(mutex_);
      while (!is_cancelled_ && !is_done() && !has_work()) lock.wait(changed_);
      if (is_cancelled_ || is_done()) return;
    }
  }
  /// The messages are given up: this rank and the others may differ in what they have sent.
  void cancel() {
    {
      const mutex_lock lock(mutex_);
      is_cancelled_ = true;
    }
    changed_.notify_all();
  }

  /// After `work`: what has failed first, at this rank or at one that has sent; nothing: all messages are whole.
  [[nodiscard]] std::optional<error> failure() const {
    const mutex_lock lock(mutex_);
    if (is_cancelled_) return error(errc::cancelled, "cancelled");
    return failure_;
  }

 private:
  static constexpr std::size_t most_messages = 16;  // in each direction between two calls of `pump`

  struct outgoing {
    outgoing_list of{};
    std::deque<groups::started> started{};  // of the thread of the group
    std::uint64_t read = 0;
    std::list<std::vector<std::byte>> messages{};  // that have been read
    bool is_sent = false;
  };
  struct incoming {
    message_list of{};
    std::deque<groups::started> started{};  // of the thread of the group
    std::uint64_t posted = 0;
    std::deque<groups::started> arrived{};
  };

  /// With the last one.
  [[nodiscard]] static std::uint64_t all_of(const message_list& of) { return of.count() + 1; }
  [[nodiscard]] static std::size_t size_of(const message_list& of, std::uint64_t number) {
    return number == of.count() ? 1 : of.size(number);
  }

  [[nodiscard]] std::optional<std::vector<std::byte>> take(outgoing& from) {
    const mutex_lock lock(mutex_);
    if (from.messages.empty()) return std::nullopt;
    auto next = std::move(from.messages.front());
    from.messages.pop_front();
    return next;
  }
  [[nodiscard]] bool has_room(const incoming& at) const {
    const mutex_lock lock(mutex_);
    return at.arrived.size() < window_;
  }
  [[nodiscard]] bool can_read(const outgoing& from) const CAIRN_REQUIRES(mutex_) {
    return !lacks_memory_ && from.messages.size() < window_ && from.read < all_of(from.of.all);
  }
  [[nodiscard]] bool is_written() const CAIRN_REQUIRES(mutex_) {
    return std::ranges::all_of(incoming_, [&](const auto& each) { return written_ >= all_of(each.of); });
  }
  [[nodiscard]] bool can_write() const CAIRN_REQUIRES(mutex_) {
    return !is_written() && std::ranges::all_of(incoming_, [&](const auto& each) {
      return written_ >= all_of(each.of) || !each.arrived.empty();
    });
  }
  [[nodiscard]] bool has_work() const CAIRN_REQUIRES(mutex_) {
    return can_write() ||
           std::ranges::any_of(outgoing_, [&](const auto& each) CAIRN_REQUIRES(mutex_) { return can_read(each); });
  }
  [[nodiscard]] bool is_done() const CAIRN_REQUIRES(mutex_) {
    return is_written() && std::ranges::all_of(outgoing_, &outgoing::is_sent);
  }

  void read_next(outgoing& from) {
    {
      const mutex_lock lock(mutex_);
      if (!can_read(from)) return;
    }
    std::list<std::vector<std::byte>> next;
    try {
      next.emplace_back(size_of(from.of.all, from.read));
    } catch (const std::bad_alloc&) {  // `pump` has it tried again: the receiver waits for it
      const mutex_lock lock(mutex_);
      lacks_memory_ = true;
      return;
    }
    if (from.read == from.of.all.count())
      next.back()[0] = std::byte{from.of.read != nullptr};
    else
      attempt(from.of.read, [&] { from.of.read(from.read, next.back()); });
    const mutex_lock lock(mutex_);
    from.messages.splice(from.messages.end(), next);
    ++from.read;
  }
  void write_next() {
    {
      const mutex_lock lock(mutex_);
      if (!can_write()) return;
      for (std::size_t i = 0; i < next_.size(); ++i) {
        if (written_ >= all_of(incoming_[i].of)) continue;
        next_[i] = std::move(incoming_[i].arrived.front());
        incoming_[i].arrived.pop_front();
      }
    }
    bool has_some = false;
    for (std::size_t i = 0; i < next_.size(); ++i) {
      const auto& of = incoming_[i].of;
      messages_[i] = written_ < of.count() ? next_[i]->result() : std::span<const std::byte>();
      has_some = has_some || written_ < of.count();
      if (written_ == of.count() && next_[i]->result()[0] == std::byte{0})
        note({errc::io, sentence({"rank ", of.rank, " cannot read its file"})});
    }
    if (has_some) attempt(write_, [&] { write_(written_, messages_); });
    for (auto& each : next_) each.reset();
    const mutex_lock lock(mutex_);
    ++written_;
  }
  /// What fails is kept, and not tried again.
  template <class Function, class Act>
  void attempt(Function& function, const Act& act) {
    if (!function) return;
    try {
      act();
    } catch (...) {
      note(as_error(std::current_exception(), {"the exchange of files"}));
      function = nullptr;
    }
  }
  void note(const error& cause) {
    const mutex_lock lock(mutex_);
    if (!failure_) failure_ = cause;
  }

  mutable mutex mutex_;  // of what both threads use of the messages
  std::condition_variable changed_;
  const std::size_t window_;  // messages of a rank that are under way
  std::deque<outgoing> outgoing_;
  std::deque<incoming> incoming_;
  // Of the thread of `work`:
  std::uint64_t written_ = 0;
  std::vector<groups::started> next_;
  std::vector<std::span<const std::byte>> messages_;
  write_messages write_;
  const unsigned channel_;
  bool is_cancelled_ CAIRN_GUARDED_BY(mutex_) = false;
  bool lacks_memory_ CAIRN_GUARDED_BY(mutex_) = false;  // to read the next piece
  std::optional<error> failure_ CAIRN_GUARDED_BY(mutex_);
};

}  // namespace cairn::inline v0_1::detail
