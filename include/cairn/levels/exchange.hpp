// SPDX-License-Identifier: MIT
// Files that ranks send to each other in pieces. The thread that calls the group passes the messages on (`pump`), while
// another one reads and writes the files (`work`).
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cairn/core/error.hpp"
#include "cairn/group/team.hpp"
#include "cairn/store/base.hpp"
#include "cairn/system/memory.hpp"
#include "cairn/system/mutex.hpp"

namespace cairn::inline v0_1::detail {

/// A file for another rank. Null: it could not be opened; the messages of its bytes are sent all the same.
struct outgoing_file {
  unsigned to = 0;
  std::uint64_t bytes = 0;
  std::unique_ptr<stores::source> file{};
};

/// A file of another rank. Null: it cannot be written; its messages are received all the same.
struct incoming_file {
  unsigned from = 0;
  std::uint64_t bytes = 0;
  stores::sink* file = nullptr;
};

/// Each file is sent as messages of 4 MiB, and one of a byte that says whether all could be read. What fails with a
/// file does not end its messages: both ranks exchange all of them.
class exchange {
 public:
  /// `channel`: see messaging_group.
  exchange(outgoing_file sends, const std::vector<incoming_file>& receives, unsigned channel)
      : outgoing_{.of = std::move(sends)}, channel_(channel) {
    for (const auto& each : receives) {
      auto& made = incoming_.emplace_back();
      made.of = each;
      static_cast<void>(made.aligned.first(std::min(piece_bytes, each.bytes)));
    }
  }

  /// In the thread that calls the group: starts messages, and takes those that have arrived. Never waits. Returns
  /// whether there were any.
  bool pump(team& ranks) {
    bool has_moved = false;
    auto& out = outgoing_;
    while (!out.started.empty() && ranks.test(*out.started.front())) out.started.pop_front();
    while (out.started.size() < window) {
      auto piece = take();
      if (!piece) break;
      out.started.push_back(ranks.send(*std::move(piece), out.of.to, channel_));
      has_moved = true;
    }
    {
      const mutex_lock lock(mutex_);
      out.is_sent = out.started.empty() && out.read == count_of(out.of.bytes) && out.pieces.empty();
      lacks_memory_ = false;
    }
    for (auto& each : incoming_) {
      for (; each.started.size() < window && each.posted < count_of(each.of.bytes); ++each.posted)
        each.started.push_back(ranks.receive(size_of_piece(each.of.bytes, each.posted), each.of.from, channel_));
      while (has_room(each) && !each.started.empty() && ranks.test(*each.started.front())) {
        const mutex_lock lock(mutex_);
        each.arrived.push_back(std::move(each.started.front()));
        each.started.pop_front();
        has_moved = true;
      }
    }
    changed_.notify_all();
    return has_moved;
  }
  /// In another thread: reads and writes until all is done, or cancelled.
  void work() {
    while (true) {
      read_next();
      for (auto& each : incoming_) write_next(each);
      mutex_lock lock(mutex_);
      while (!is_cancelled_ && !is_done() && !has_work()) lock.wait(changed_);
      if (is_cancelled_ || is_done()) return;
    }
  }
  /// The files are given up: this rank and the others may differ in what they have sent.
  void cancel() {
    {
      const mutex_lock lock(mutex_);
      is_cancelled_ = true;
    }
    changed_.notify_all();
  }

  /// After `work`: what has failed first, at this rank or at one that has sent; nothing: all files are whole.
  [[nodiscard]] std::optional<error> failure() const {
    const mutex_lock lock(mutex_);
    if (is_cancelled_) return error(errc::cancelled, "cancelled");
    return failure_;
  }

 private:
  static constexpr std::uint64_t piece_bytes = std::uint64_t{4} << 20U;
  static constexpr std::size_t window = 16;  // pieces that are under way between two calls of `pump`

  struct outgoing {
    outgoing_file of{};
    std::deque<groups::started> started{};        // of the thread of the group
    std::uint64_t read = 0;                       // pieces
    std::deque<std::vector<std::byte>> pieces{};  // that have been read
    bool is_sent = false;
  };
  struct incoming {
    incoming_file of{};
    std::deque<groups::started> started{};  // of the thread of the group
    std::uint64_t posted = 0;               // pieces
    std::deque<groups::started> arrived{};
    std::uint64_t written = 0;  // pieces
    page_buffer aligned{};
  };

  [[nodiscard]] static std::uint64_t count_of(std::uint64_t bytes) {
    return (bytes + piece_bytes - 1) / piece_bytes + 1;
  }
  /// The last one says whether the file is whole.
  [[nodiscard]] static std::size_t size_of_piece(std::uint64_t bytes, std::uint64_t number) {
    return number + 1 == count_of(bytes)
               ? 1
               : static_cast<std::size_t>(std::min(piece_bytes, bytes - number * piece_bytes));
  }

  [[nodiscard]] std::optional<std::vector<std::byte>> take() {
    const mutex_lock lock(mutex_);
    if (outgoing_.pieces.empty()) return std::nullopt;
    auto next = std::move(outgoing_.pieces.front());
    outgoing_.pieces.pop_front();
    return next;
  }
  [[nodiscard]] bool has_room(const incoming& at) const {
    const mutex_lock lock(mutex_);
    return at.arrived.size() < window;
  }
  [[nodiscard]] bool can_read() const CAIRN_REQUIRES(mutex_) {
    return !lacks_memory_ && outgoing_.pieces.size() < window && outgoing_.read < count_of(outgoing_.of.bytes);
  }
  [[nodiscard]] bool has_work() const CAIRN_REQUIRES(mutex_) {
    return can_read() || std::ranges::any_of(incoming_, [](const auto& each) { return !each.arrived.empty(); });
  }
  [[nodiscard]] bool is_done() const CAIRN_REQUIRES(mutex_) {
    return outgoing_.is_sent &&
           std::ranges::all_of(incoming_, [](const auto& each) { return each.written == count_of(each.of.bytes); });
  }

  void read_next() {
    auto& from = outgoing_;
    {
      const mutex_lock lock(mutex_);
      if (!can_read()) return;
    }
    std::vector<std::byte> bytes;
    try {
      bytes.resize(size_of_piece(from.of.bytes, from.read));
    } catch (const std::bad_alloc&) {  // `pump` has it tried again: the receiver waits for it
      const mutex_lock lock(mutex_);
      lacks_memory_ = true;
      return;
    }
    if (from.read + 1 == count_of(from.of.bytes))
      bytes[0] = std::byte{from.of.file != nullptr};
    else
      attempt(from.of.file, [&] { from.of.file->read(from.read * piece_bytes, bytes); });
    const mutex_lock lock(mutex_);
    from.pieces.push_back(std::move(bytes));
    ++from.read;
  }
  void write_next(incoming& at) {
    groups::started message;
    {
      const mutex_lock lock(mutex_);
      if (at.arrived.empty()) return;
      message = std::move(at.arrived.front());
      at.arrived.pop_front();
    }
    const auto bytes = message->result();
    if (at.written + 1 == count_of(at.of.bytes)) {
      if (bytes[0] == std::byte{0}) note({errc::io, sentence({"rank ", at.of.from, " cannot read its file"})});
    } else {
      attempt(at.of.file, [&] {
        const auto aligned = at.aligned.first(bytes.size());
        std::ranges::copy(bytes, aligned.begin());
        const stores::buffer all[] = {aligned};
        at.of.file->write(at.written * piece_bytes, all);
      });
    }
    const mutex_lock lock(mutex_);
    ++at.written;
  }
  /// What fails is kept, and the file is given up.
  template <class File, class Act>
  void attempt(File& file, const Act& act) {
    if (!file) return;
    try {
      act();
    } catch (...) {
      note(as_error(std::current_exception(), {"the exchange of files"}));
      file = nullptr;
    }
  }
  void note(const error& cause) {
    const mutex_lock lock(mutex_);
    if (!failure_) failure_ = cause;
  }

  mutable mutex mutex_;  // of what both threads use of the files
  std::condition_variable changed_;
  outgoing outgoing_;
  std::deque<incoming> incoming_;
  const unsigned channel_;
  bool is_cancelled_ CAIRN_GUARDED_BY(mutex_) = false;
  bool lacks_memory_ CAIRN_GUARDED_BY(mutex_) = false;  // to read the next piece
  std::optional<error> failure_ CAIRN_GUARDED_BY(mutex_);
};

}  // namespace cairn::inline v0_1::detail
