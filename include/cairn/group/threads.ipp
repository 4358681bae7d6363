// SPDX-License-Identifier: MIT
// Definitions of group/threads.hpp.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "cairn/group/threads.hpp"
#include "cairn/system/mutex.hpp"

namespace cairn::inline v0_1::groups {

namespace detail {

enum class collective : std::uint8_t { largest, broadcast, gather };

/// What a rank starts.
struct call {
  collective what{};
  std::size_t bytes = 0;  // of one rank
  unsigned root = 0;

  friend bool operator==(const call&, const call&) = default;
};

/// One collective. Once the last rank has started it, the operations of the ranks keep it.
struct exchange {
  std::uint64_t number;
  call what;
  unsigned arrived = 0;
  bool is_same = true;
  std::vector<std::byte> data{};  // the largest, the bytes of the root, or those of all ranks
};

/// Where the ranks of a group meet: the n-th operation of each rank is the n-th exchange. Thread-safe.
class meeting {
 public:
  explicit meeting(unsigned size) : size_(size), started_(size), is_gone_(size) {}

  [[nodiscard]] unsigned size() const noexcept { return size_; }

  /// Rank `rank` starts its next operation.
  std::shared_ptr<const exchange> start(unsigned rank, const call& what, std::span<const std::byte> bytes) {
    const cairn::detail::mutex_lock lock(mutex_);
    const auto number = started_[rank]++;
    auto& pending = pending_[number];
    if (!pending) pending = std::make_shared<exchange>(exchange{number, what});
    const auto made = pending;
    made->is_same = made->is_same && made->what == what;
    if (made->is_same) add(*made, rank, bytes);
    if (++made->arrived == size()) pending_.erase(number);
    return made;
  }

  /// Whether all ranks have started it. Then it does not change any more.
  bool is_complete(const exchange& made) {
    const cairn::detail::mutex_lock lock(mutex_);
    if (!made.is_same) fail(errc::mismatch, {"the ranks of a group have started different operations"});
    if (made.arrived == size()) return true;
    for (unsigned rank = 0; rank < size(); ++rank)
      if (is_gone_[rank] && started_[rank] <= made.number) fail(errc::lost_rank, {"rank ", rank, " has ended"});
    return false;
  }

  /// From whom to whom, and on which channel.
  using way = std::tuple<unsigned, unsigned, unsigned>;

  /// Gives the next message or receipt its number.
  std::uint64_t number(const way& on, bool is_receipt) {
    const cairn::detail::mutex_lock lock(mutex_);
    return (is_receipt ? received_ : sent_)[on]++;
  }
  void send(const way& on, std::vector<std::byte> bytes) {
    const auto next = number(on, false);
    const cairn::detail::mutex_lock lock(mutex_);
    mail_[{on, next}] = std::move(bytes);
  }
  /// The message with that number, once it is there.
  std::optional<std::vector<std::byte>> take(const way& on, std::uint64_t number, std::size_t size) {
    const cairn::detail::mutex_lock lock(mutex_);
    const auto from = std::get<0>(on);
    const auto at = mail_.find({on, number});
    if (at == mail_.end()) {
      if (is_gone_[from]) fail(errc::lost_rank, {"rank ", from, " has ended"});
      return std::nullopt;
    }
    auto bytes = std::move(at->second);
    mail_.erase(at);
    if (bytes.size() != size) fail(errc::mismatch, {"rank ", from, " has sent a message of another size"});
    return bytes;
  }

  void leave(unsigned rank) {
    const cairn::detail::mutex_lock lock(mutex_);
    is_gone_[rank] = true;
  }

  [[nodiscard]] std::vector<unsigned> behind(unsigned rank) {
    const cairn::detail::mutex_lock lock(mutex_);
    std::vector<unsigned> missing;
    for (unsigned other = 0; other < size(); ++other)
      if (is_gone_[other] || started_[other] < started_[rank]) missing.push_back(other);
    return missing;
  }

 private:
  void add(exchange& to, unsigned rank, std::span<const std::byte> bytes) const {
    switch (to.what.what) {
      case collective::largest: {
        to.data.resize(bytes.size());
        for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
          std::uint64_t mine = 0, most = 0;
          std::memcpy(&mine, bytes.data() + at, sizeof mine);
          std::memcpy(&most, to.data.data() + at, sizeof most);
          most = std::max(mine, most);
          std::memcpy(to.data.data() + at, &most, sizeof most);
        }
        return;
      }
      case collective::broadcast:
        if (rank == to.what.root) to.data.assign(bytes.begin(), bytes.end());
        return;
      case collective::gather:
        to.data.resize(to.what.bytes * size());
        std::copy(bytes.begin(), bytes.end(), to.data.begin() + static_cast<std::ptrdiff_t>(to.what.bytes * rank));
    }
  }

  const unsigned size_;
  cairn::detail::mutex mutex_;
  /// By number: those that a rank has not started yet.
  std::map<std::uint64_t, std::shared_ptr<exchange>> pending_ CAIRN_GUARDED_BY(mutex_);
  std::vector<std::uint64_t> started_ CAIRN_GUARDED_BY(mutex_);  // operations, by rank
  std::vector<bool> is_gone_ CAIRN_GUARDED_BY(mutex_);
  std::map<way, std::uint64_t> sent_ CAIRN_GUARDED_BY(mutex_), received_ CAIRN_GUARDED_BY(mutex_);
  std::map<std::pair<way, std::uint64_t>, std::vector<std::byte>> mail_ CAIRN_GUARDED_BY(mutex_);
};

struct membership {
  membership(std::shared_ptr<meeting> group, unsigned own) : at(std::move(group)), rank(own) {}
  membership(const membership&) = delete;
  membership& operator=(const membership&) = delete;
  ~membership() { at->leave(rank); }

  std::shared_ptr<meeting> at;
  unsigned rank;
};

class thread_operation final : public operation {
 public:
  thread_operation(const membership& of, const call& what, std::span<const std::byte> bytes)
      : at_(of.at),
        has_result_(what.what != collective::gather || what.root == of.rank),
        made_(at_->start(of.rank, what, bytes)) {}

  bool test() override { return is_done_ = is_done_ || at_->is_complete(*made_); }

  [[nodiscard]] std::span<const std::byte> result() const override {
    return has_result_ && is_done_ ? std::span(made_->data) : std::span<const std::byte>();
  }

 private:
  std::shared_ptr<meeting> at_;
  bool has_result_, is_done_ = false;
  std::shared_ptr<const exchange> made_;
};

/// A message, which is sent at once, or a receipt.
class thread_message final : public operation {
 public:
  thread_message() = default;
  thread_message(const membership& of, std::size_t size, unsigned from, unsigned channel)
      : at_(of.at), on_(from, of.rank, channel), size_(size), number_(at_->number(on_, true)) {}

  bool test() override {
    if (at_ && !bytes_) bytes_ = at_->take(on_, number_, size_);
    return !at_ || bytes_;
  }
  [[nodiscard]] std::span<const std::byte> result() const override {
    return bytes_ ? std::span<const std::byte>(*bytes_) : std::span<const std::byte>();
  }

 private:
  std::shared_ptr<meeting> at_;
  meeting::way on_{};
  std::size_t size_ = 0;
  std::uint64_t number_ = 0;
  std::optional<std::vector<std::byte>> bytes_;
};

}  // namespace detail

std::vector<threads> threads::make(unsigned size) {
  if (size == 0) fail(errc::invalid, {"a group has no ranks"});
  const auto at = std::make_shared<detail::meeting>(size);
  std::vector<threads> ranks;
  for (unsigned rank = 0; rank < size; ++rank) ranks.push_back(threads(std::make_shared<detail::membership>(at, rank)));
  return ranks;
}

unsigned threads::rank() const noexcept { return self_->rank; }
unsigned threads::size() const noexcept { return self_->at->size(); }

started threads::start_max(std::span<const std::uint64_t> numbers) {
  const detail::call what{detail::collective::largest, numbers.size_bytes(), 0};
  return std::make_unique<detail::thread_operation>(*self_, what, std::as_bytes(numbers));
}

started threads::start_broadcast(std::span<const std::byte> bytes, std::size_t size, unsigned root) {
  const detail::call what{detail::collective::broadcast, size, root};
  return std::make_unique<detail::thread_operation>(*self_, what, bytes);
}

started threads::start_gather(std::span<const std::byte> bytes, unsigned root) {
  const detail::call what{detail::collective::gather, bytes.size(), root};
  return std::make_unique<detail::thread_operation>(*self_, what, bytes);
}

started threads::start_send(std::vector<std::byte> bytes, unsigned to, unsigned channel) {
  self_->at->send({self_->rank, to, channel}, std::move(bytes));
  return std::make_unique<detail::thread_message>();
}

started threads::start_receive(std::size_t size, unsigned from, unsigned channel) {
  return std::make_unique<detail::thread_message>(*self_, size, from, channel);
}

std::vector<unsigned> threads::roll_call(std::chrono::milliseconds /*limit*/) { return self_->at->behind(self_->rank); }

}  // namespace cairn::inline v0_1::groups
