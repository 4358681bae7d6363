// SPDX-License-Identifier: MIT
// A shard that is on no host, computed from the others of its set and from their parity while it is read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cairn/core/error.hpp"
#include "cairn/levels/parity_sets.hpp"
#include "cairn/levels/redundancy.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/store/stored_checkpoint.hpp"

namespace cairn::inline v0_1::detail {

class rebuilt_file final : public stores::source {
 public:
  /// Of the shard `lost` of `of`, which has a set for it; `from` has all of that which is on a host. `where`: for
  /// messages. `code` outlives it. errc::corrupt.
  rebuilt_file(const spread_checkpoint& of, const stores::publication& from, std::string where,
               const std::vector<index_shard>& shards, std::size_t lost, const erasure_code& code)
      : where_(std::move(where)), bytes_(shards.at(lost).bytes), set_(*of.set_for(lost)), code_(code) {
    if (bytes_ > set_.columns() * set_.chunk) fail(errc::corrupt, {where_, ": its parity is that of a smaller file"});
    lost_ = set_.member_of(lost);
    for (std::uint64_t member = 0; member < set_.members.size(); ++member) {
      const auto shard = set_.members[member];
      const bool has_parity = of.has_piece(set_, member, member);  // in that stripe it has a row
      shards_.push_back(of.shards[shard].empty() ? nullptr : open_file(from, shards.at(shard)));
      parity_.push_back(
          has_parity ? open_file(from, {.file = parity_file(shard, shards.size()) + ".data", .bytes = set_.bytes()})
                     : nullptr);
    }
  }

  [[nodiscard]] std::uint64_t size() const override { return bytes_; }
  void read(std::uint64_t offset, std::span<const std::span<std::byte>> into) const override {
    stores::check_range(where_, bytes_, offset, into);
    for (auto left : into)
      for (; !left.empty();) {
        const auto chunk = offset / set_.chunk, at = offset % set_.chunk;
        const auto now =
            left.first(std::min<std::uint64_t>(parity_record::unit - at % parity_record::unit, left.size()));
        compute(chunk, at, now);
        left = left.subspan(now.size());
        offset += now.size();
      }
  }

 private:
  /// Bytes of the chunk from `at` on, which are in one piece of the parity.
  void compute(std::uint64_t chunk, std::uint64_t at, std::span<std::byte> into) const {
    const auto stripe = set_.stripe_of(lost_, set_.rows + chunk);
    std::vector<std::byte> memory(set_.columns() * into.size());
    std::vector<coded_piece> known;
    for (std::uint64_t member = 0; member < set_.members.size() && known.size() < set_.columns(); ++member) {
      const auto position = set_.position(stripe, member);
      const bool is_parity = position < set_.rows;
      const auto& file = is_parity ? parity_[member] : shards_[member];
      if (!file || member == lost_) continue;
      const auto bytes = std::span(memory).subspan(known.size() * into.size(), into.size());
      read_padded(*file, is_parity ? set_.offset(position, at) : (position - set_.rows) * set_.chunk + at, bytes);
      known.push_back({is_parity ? set_.columns() + position : position - set_.rows, bytes});
    }
    if (known.size() < set_.columns()) fail(errc::corrupt, {where_, ": too little is left to rebuild it"});
    code_.compute(set_.columns(), set_.rows, known, chunk, into);
  }

  std::string where_;
  std::uint64_t bytes_;
  parity_record set_;
  std::uint64_t lost_ = 0;  // which member
  const erasure_code& code_;
  std::vector<std::unique_ptr<stores::source>> shards_, parity_;  // by member; null: not there
};

}  // namespace cairn::inline v0_1::detail
