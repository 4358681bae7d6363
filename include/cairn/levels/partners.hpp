// SPDX-License-Identifier: MIT
// The copies that ranks on the disks of several hosts send to each other: each to a partner on another host.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cairn/core/error.hpp"
#include "cairn/group/team.hpp"
#include "cairn/levels/exchange.hpp"
#include "cairn/levels/survey.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/stored_checkpoint.hpp"
#include "cairn/store/writer.hpp"

namespace cairn::inline v0_1::detail {

/// One publication at a time. `begin`, `pump` and `cancel` are for the thread that calls the group, `send` for another
/// one.
class partner_copies {
 public:
  /// Opens what this rank sends, its shard in `own`, and what it receives, into the slot `into`. `index`: its text.
  /// A file that cannot be opened fails `send`.
  void begin(const host_numbers& hosts, const std::string& index, const std::string& publication, stores::directory own,
             stores::directory into, unsigned channel) {
    const auto shards = parse_index(index, "the index of rank 0", index_part::metadata).shards;
    index_ = index;
    attempt([&] { received_ = into.begin(publication); });
    std::vector<incoming_file> receives;
    for (unsigned rank = 0; rank < hosts.ranks(); ++rank) {
      if (hosts.partner_of_rank(rank) != hosts.rank) continue;
      receives.push_back({rank, shards.at(rank).bytes, nullptr});
      attempt([&] {
        if (received_) receives.back().file = &received_->create(shards[rank].file, shards[rank].bytes);
      });
    }
    outgoing_file sends{hosts.partner_of_rank(hosts.rank), shards.at(hosts.rank).bytes, nullptr};
    attempt([&] { sends.file = open_file(*own.open(publication), shards[hosts.rank]); });
    files_ = std::make_unique<exchange>(std::move(sends), receives, channel);
  }
  /// Until all is sent and received. Publishes what has been received.
  void send() {
    files_->work();
    if (const auto failure = files_->failure()) attempt([&] { throw error(*failure); });
    attempt([&] {
      if (!received_ || failure_) return;
      write_text(received_->create(index_file, index_.size()), index_);
      received_->publish();
    });
    received_.reset();
    const auto failure = std::exchange(failure_, std::nullopt);
    is_sent_ = true;
    if (failure) throw error(*failure);
  }
  bool pump(team& ranks) {
    if (files_ && is_sent_.exchange(false)) files_.reset();
    return files_ && files_->pump(ranks);
  }
  [[nodiscard]] bool is_sending() const { return files_ != nullptr && !is_sent_; }
  /// At all ranks: ends `send`. Nothing more can be sent then, as messages that are under way could be taken for those
  /// that follow.
  void cancel() noexcept {
    is_off_ = true;
    if (is_sending()) files_->cancel();
  }
  [[nodiscard]] bool is_off() const noexcept { return is_off_; }

 private:
  /// Keeps the first thing that fails.
  template <class Act>
  void attempt(const Act& act) {
    try {
      act();
    } catch (...) {
      if (!failure_) failure_ = as_error(std::current_exception(), {"the copy at a partner"});
    }
  }

  std::unique_ptr<exchange> files_;
  std::atomic<bool> is_sent_{false};  // `send` has ended
  bool is_off_ = false;
  // Between `begin` and the end of `send` for that thread:
  std::string index_;
  std::unique_ptr<stores::transaction> received_;
  std::optional<error> failure_;
};

}  // namespace cairn::inline v0_1::detail
