// SPDX-License-Identifier: MIT
// The stored bytes of one slice at a time, read in whole blocks when they are needed. Slices that are read in the order
// of their shards share blocks, and a block that the next slice needs too is not read again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "cairn/store/reader.hpp"
#include "cairn/system/memory.hpp"

namespace cairn::inline v0_1::detail {

/// One thread at a time. Holds the blocks of one slice, and of up to 256 shards used before the last blocks of the
/// slices as they are and of those that are encoded: four each at most.
class slice_window {
 public:
  explicit slice_window(const read_options& options) : options_(options) {}

  /// Moves to a slice of a checkpoint, and returns its bytes, which are there once `need` has read them. They stay
  /// until the next call.
  [[nodiscard]] std::span<const std::byte> move_to(const checkpoint_reader& from, const stored_slice& slice) {
    constexpr std::size_t most_windows = 256;
    const std::tuple key(&from, slice.shard, slice.encoded != nullptr);
    if (windows_.size() >= most_windows && !windows_.contains(key)) {
      windows_.clear();
      current_ = nullptr;
    }
    auto* const next = &windows_[key];
    if (current_ != nullptr && current_ != next) current_->trim(spare_);
    current_ = next;
    from_ = &from;
    shard_ = slice.shard;
    begin_ = slice.begin;
    current_->cover(begin_ / block_bytes, block_count(slice.end()), spare_);
    return current_->memory.bytes().subspan(begin_ - current_->first * block_bytes, slice.bytes);
  }

  /// Reads the blocks with bytes [begin, end) of the slice that are not there yet. Errors: as checkpoint_reader::read.
  void need(std::size_t begin, std::size_t end) {
    if (begin == end) return;
    auto& now = *current_;
    const auto last = block_count(begin_ + end) - now.first;
    for (auto block = (begin_ + begin) / block_bytes - now.first; block < last; ++block) {
      if (now.is_read[block]) continue;
      auto next = block;
      while (next < last && !now.is_read[next]) ++next;
      const auto first_byte = (now.first + block) * block_bytes,
                 end_byte = std::min((now.first + next) * block_bytes, from_->data_bytes(shard_));
      from_->read(shard_, first_byte, now.memory.bytes().subspan(block * block_bytes, end_byte - first_byte), options_);
      for (; block < next; ++block) now.is_read[block] = true;
      --block;
    }
  }

 private:
  /// Blocks of a shard that are kept: arrays are in similar orders in all shards, not always in the same.
  static constexpr std::uint64_t few = 4;

  /// Consecutive blocks of a shard.
  struct window {
    page_buffer memory{};
    std::uint64_t first = 0;
    std::vector<bool> is_read{};

    /// Has room for blocks [begin, end), keeps those there, and a few on either side. Takes `spare` if it needs memory.
    void cover(std::uint64_t begin, std::uint64_t end, page_buffer& spare) {
      const auto old_end = first + is_read.size();
      if (begin >= first && end <= old_end) return;
      if (begin > first && begin <= old_end) begin = std::max(first, begin - std::min(begin, few));
      if (end >= first && end < old_end) end = std::min(old_end, end + few);
      std::vector<bool> now(end - begin);
      const bool grows = now.size() * block_bytes > memory.bytes().size();
      page_buffer grown;
      if (grows) {
        std::swap(grown, spare);
        static_cast<void>(grown.first(now.size() * block_bytes));
      }
      const auto to = grows ? grown.bytes() : memory.bytes();
      const auto kept = std::max(begin, first), kept_end = std::min(end, old_end);
      if (kept < kept_end) {
        std::memmove(to.data() + (kept - begin) * block_bytes, memory.bytes().data() + (kept - first) * block_bytes,
                     (kept_end - kept) * block_bytes);
        for (auto block = kept; block < kept_end; ++block) now[block - begin] = is_read[block - first];
      }
      if (grows) memory = std::move(grown);
      first = begin;
      is_read = std::move(now);
    }

    /// Keeps the last few blocks. The memory of the others becomes `spare`.
    void trim(page_buffer& spare) {
      if (memory.bytes().size() <= few * block_bytes) return;
      const auto left_out = is_read.size() - std::min<std::size_t>(is_read.size(), few);
      page_buffer kept(few * block_bytes);
      std::memcpy(kept.bytes().data(), memory.bytes().data() + left_out * block_bytes,
                  (is_read.size() - left_out) * block_bytes);
      std::swap(memory, kept);
      if (kept.bytes().size() > spare.bytes().size()) std::swap(spare, kept);
      is_read.erase(is_read.begin(), is_read.begin() + static_cast<std::ptrdiff_t>(left_out));
      first += left_out;
    }
  };

  read_options options_;
  /// By shard, and whether their slices are encoded: writers put these after the others.
  std::map<std::tuple<const checkpoint_reader*, std::size_t, bool>, window> windows_;
  window* current_ = nullptr;
  page_buffer spare_;  // of the last window that was large
  const checkpoint_reader* from_ = nullptr;
  std::size_t shard_ = 0;
  std::uint64_t begin_ = 0;
};

}  // namespace cairn::inline v0_1::detail
