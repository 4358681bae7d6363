// SPDX-License-Identifier: MIT
// What ranks send each other so that the loss of a host loses no shard: each its shard to a partner on another host, or
// parts of it to the ranks that keep parity of it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cairn/core/error.hpp"
#include "cairn/group/team.hpp"
#include "cairn/levels/exchange.hpp"
#include "cairn/levels/parity_sets.hpp"
#include "cairn/levels/survey.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/stored_checkpoint.hpp"
#include "cairn/store/writer.hpp"
#include "cairn/system/memory.hpp"

namespace cairn::inline v0_1::detail {

/// Fills `into` from byte `at` of a file on, with zeros where the file has ended.
inline void read_padded(const stores::source& file, std::uint64_t at, std::span<std::byte> into) {
  const auto there = std::min<std::uint64_t>(into.size(), file.size() - std::min(file.size(), at));
  if (there > 0) file.read(at, into.first(there));
  std::ranges::fill(into.subspan(there), std::byte{0});
}

/// One publication at a time. `begin`, `pump` and `cancel` are for the thread that calls the group, `send` for another
/// one.
class redundancy {
 public:
  /// For a publication whose shards the ranks have, each in the slot `own`; what is for others goes to the slot `into`.
  /// `index`: its text. `code`: null for partners, else it outlives the sending. What cannot be opened fails `send`.
  void begin(const host_numbers& hosts, const std::string& index, const std::string& publication, stores::directory own,
             stores::directory into, unsigned channel, const erasure_code* code) {
    shards_ = parse_index(index, "the index of rank 0", index_part::metadata).shards;
    attempt([&] { received_ = into.begin(publication); });
    attempt([&] { source_ = open_file(*own.open(publication), shards_.at(hosts.rank)); });
    texts_ = {{std::string(index_file), index}};
    std::vector<outgoing_list> sends;
    std::vector<message_list> receives;
    auto write = code == nullptr ? begin_copies(hosts, sends, receives) : begin_parity(hosts, *code, sends, receives);
    for (auto& each : sends)
      if (!source_) each.read = nullptr;
    messages_ = std::make_unique<exchange>(std::move(sends), receives, failure_ ? nullptr : std::move(write), channel);
  }
  /// Until all is sent and received. Publishes what has been received.
  void send() {
    messages_->work();
    if (const auto failure = messages_->failure()) attempt([&] { throw error(*failure); });
    attempt([&] {
      if (!received_ || failure_) return;
      for (const auto& [file, text] : texts_) write_text(received_->create(file, text.size()), text);
      received_->publish();
    });
    received_.reset();
    source_.reset();
    const auto failure = std::exchange(failure_, std::nullopt);
    is_sent_ = true;
    if (failure) throw error(*failure);
  }
  bool pump(team& ranks) {
    if (messages_ && is_sent_.exchange(false)) messages_.reset();
    return messages_ && messages_->pump(ranks);
  }
  [[nodiscard]] bool is_sending() const { return messages_ != nullptr && !is_sent_; }
  /// At all ranks: ends `send`. Nothing more can be sent then, as messages that are under way could be taken for those
  /// that follow.
  void cancel() noexcept {
    is_off_ = true;
    if (is_sending()) messages_->cancel();
  }
  [[nodiscard]] bool is_off() const noexcept { return is_off_; }

 private:
  static constexpr std::uint64_t piece_bytes = std::uint64_t{4} << 20U;

  [[nodiscard]] write_messages begin_copies(const host_numbers& hosts, std::vector<outgoing_list>& sends,
                                            std::vector<message_list>& receives) {
    std::vector<stores::sink*> files;
    for (unsigned rank = 0; rank < hosts.ranks(); ++rank) {
      if (hosts.partner_of_rank(rank) != hosts.rank) continue;
      receives.push_back({rank, shards_.at(rank).bytes, piece_bytes});
      attempt([&] {
        if (received_) files.push_back(&received_->create(shards_[rank].file, shards_[rank].bytes));
      });
    }
    sends.push_back({{hosts.partner_of_rank(hosts.rank), shards_.at(hosts.rank).bytes, piece_bytes},
                     [this](std::uint64_t number, std::span<std::byte> into) {
                       read_padded(*source_, number * piece_bytes, into);
                     }});
    return [this, files](std::uint64_t number, std::span<const std::span<const std::byte>> messages) {
      for (std::size_t i = 0; i < files.size(); ++i) write(*files[i], number * piece_bytes, messages[i]);
    };
  }
  /// Of each stripe of which this rank keeps a row, it receives all chunks: as many bytes of each at a time.
  [[nodiscard]] write_messages begin_parity(const host_numbers& hosts, const erasure_code& code,
                                            std::vector<outgoing_list>& sends, std::vector<message_list>& receives) {
    parity_record kept{.keeper = hosts.rank, .members = hosts.members_with(hosts.rank, code.hosts), .rows = code.lost};
    std::uint64_t longest = 0;
    for (const auto shard : kept.members) longest = std::max(longest, shards_.at(shard).bytes);
    kept.chunk = parity_record::chunk_for(longest, kept.columns());
    const auto self = kept.member_of(hosts.rank);
    const auto list_of = [&](std::uint64_t other, std::uint64_t from, std::uint64_t to) {
      return message_list{static_cast<unsigned>(kept.members[other]), kept.chunk, kept.piece_bytes(),
                          kept.rows_with(from, to).size()};
    };
    for (std::uint64_t member = 0; member < kept.members.size(); ++member) {
      if (member == self) continue;
      receives.push_back(list_of(member, member, self));
      sends.push_back({list_of(member, self, member), [this, kept, rows = kept.rows_with(self, member)](
                                                          std::uint64_t number, std::span<std::byte> into) {
                         const auto bytes = kept.size_of_piece(number);
                         for (std::size_t i = 0; i < rows.size(); ++i)
                           read_padded(*source_, rows[i].second * kept.chunk + number * kept.piece_bytes(),
                                       into.subspan(i * bytes, bytes));
                       }});
    }
    const auto name = parity_file(kept.keeper, shards_.size());
    texts_.emplace_back(name + ".json", to_json(kept));
    stores::sink* file = nullptr;
    attempt([&] {
      if (received_) file = &received_->create(name + ".data", kept.bytes());
    });
    return [this, kept, self, file, &code](std::uint64_t number, std::span<const std::span<const std::byte>> messages) {
      const auto bytes = kept.size_of_piece(number);
      const auto all = memory_.first(kept.rows * bytes);
      for (std::uint64_t row = 0; row < kept.rows; ++row) {
        std::vector<coded_piece> chunks;
        for (std::size_t i = 0; i < messages.size(); ++i) {
          const auto from = kept.rows_with(i < self ? i : i + 1, self);
          const auto at = std::ranges::find(from, row, [](const auto& each) { return each.first; });
          if (at == from.end()) continue;
          const auto before = static_cast<std::size_t>(at - from.begin());
          chunks.push_back({at->second, messages[i].subspan(before * bytes, bytes)});
        }
        code.compute(kept.columns(), kept.rows, chunks, kept.columns() + row, all.subspan(row * bytes, bytes));
      }
      const stores::buffer buffers[] = {all};
      file->write(number * kept.piece_bytes() * kept.rows, buffers);
    };
  }
  /// Files take memory that is aligned.
  void write(stores::sink& file, std::uint64_t at, std::span<const std::byte> bytes) {
    if (bytes.empty()) return;
    const auto aligned = memory_.first(bytes.size());
    std::ranges::copy(bytes, aligned.begin());
    const stores::buffer all[] = {aligned};
    file.write(at, all);
  }
  /// Keeps the first thing that fails.
  template <class Act>
  void attempt(const Act& act) {
    try {
      act();
    } catch (...) {
      if (!failure_) failure_ = as_error(std::current_exception(), {"what is sent to other hosts"});
    }
  }

  std::unique_ptr<exchange> messages_;
  std::atomic<bool> is_sent_{false};  // `send` has ended
  bool is_off_ = false;
  // Between `begin` and the end of `send` for that thread:
  std::vector<index_shard> shards_;
  std::unique_ptr<stores::source> source_;
  std::unique_ptr<stores::transaction> received_;
  std::vector<std::pair<std::string, std::string>> texts_;  // files, with their texts
  page_buffer memory_;
  std::optional<error> failure_;
};

}  // namespace cairn::inline v0_1::detail
