// SPDX-License-Identifier: MIT
// The reads of ranks that load the same arrays: each reads and decodes a part of them, and sends it to the others,
// where that takes less time than that each reads all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/chain/options.hpp"
#include "cairn/chain/reader.hpp"
#include "cairn/core/catalog.hpp"
#include "cairn/group/team.hpp"
#include "cairn/store/reader.hpp"

namespace cairn::inline v0_1::detail {

/// Requests for whole arrays in contiguous memory, taken in portions.
class request_queue {
 public:
  explicit request_queue(std::vector<read_request> requests) : requests_(std::move(requests)) {
    for (const auto& each : requests_) left_ += each.into.bytes();
  }

  /// The bytes that are left.
  [[nodiscard]] std::uint64_t left() const noexcept { return left_; }

  /// The next requests, of at least `bytes` bytes where there are as many, and at most one unit more. Large arrays are
  /// cut between two units, so that no block of an encoded one is decoded twice.
  [[nodiscard]] std::vector<read_request> take(std::uint64_t bytes) {
    constexpr std::uint64_t unit = std::uint64_t{1} << 17U;  // elements of a block of codecs::lossless
    std::vector<read_request> taken;
    for (std::uint64_t sum = 0; next_ < requests_.size() && sum < bytes;) {
      auto now = requests_[next_];
      const auto width = size_of(now.into.type), all = now.into.count();
      const auto unit_bytes = unit * width, units = (bytes - sum + unit_bytes - 1) / unit_bytes;
      const auto count = units * unit < all - first_ ? units * unit : all - first_;
      if (count < all) {
        now.into = {now.into.type, {count}, now.into.memory + first_ * width, {}};
        now.first = first_;
      }
      first_ += count;
      if (first_ == all) {
        first_ = 0;
        ++next_;
      }
      sum += count * width;
      left_ -= count * width;
      taken.push_back(std::move(now));
    }
    return taken;
  }

 private:
  std::vector<read_request> requests_;
  std::size_t next_ = 0;     // of the requests
  std::uint64_t first_ = 0;  // of its elements
  std::uint64_t left_ = 0;
};

/// Whether a leaf belongs to one rank of those that saved it.
[[nodiscard]] inline bool is_rank_state(const catalog& contents, std::string_view path) {
  for (std::size_t end = 0; end != std::string_view::npos; end = path.find('.', end + 1)) {
    const auto at = contents.structure.find(path.substr(0, end));
    if (at != contents.structure.end() && at->second.what == structure_entry::kind::ranks) return true;
  }
  return false;
}

/// Does the requests of this rank; all ranks call it together, each with its own. Those for whole arrays in contiguous
/// memory, whose codecs decode ranges, are shared if they are the same at all ranks. With `read_sharing::measured`,
/// samples are read in both ways, and the rest in the faster one; fewer than `least_measured` bytes are read by every
/// rank. What one rank throws, all throw. A rank holds two buffers of about 8 MiB, one of them in the group.
void read_together(const chain_reader& from, std::span<const read_request> requests, const read_options& options,
                   read_sharing how, team& ranks, std::uint64_t least_measured = std::uint64_t{256} << 20U);

}  // namespace cairn::inline v0_1::detail
