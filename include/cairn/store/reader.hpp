// SPDX-License-Identifier: MIT
// Reads one checkpoint: lists its leaves, and verifies and copies their stored bytes in parallel; of slices, in order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "cairn/core/box.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/store/stored_checkpoint.hpp"
#include "cairn/system/memory.hpp"

namespace cairn::inline v0_1::detail {

/// All elements of a stored leaf, a box or a run of them, to be read into memory of the same dtype and element count.
struct read_request {
  std::size_t leaf = 0;  ///< index into catalog::leaves
  memory_view into;
  std::optional<box> region{};
  std::optional<std::uint64_t> first{};  ///< of a run

  [[nodiscard]] bool is_whole() const noexcept { return !region && !first; }
  [[nodiscard]] leaf_part part() const { return {first.value_or(0), into.count(), region}; }
};

struct read_options {
  unsigned threads = 0;  ///< 0: 8 to read, default_threads() to decode
  bool verify = true;    ///< compare the checksums of all blocks that are read, unless they have been compared before
};

/// Bytes [begin, end) of a shard's data section, which are those of `into` from byte `at` of its packed elements on.
struct read_step {
  std::size_t shard;
  std::uint64_t begin, end;
  const memory_view* into;
  std::uint64_t at;
};

/// Bytes [begin, end) of a shard's data section, and the steps [first, last) that lie in them.
struct read_task {
  std::size_t shard;
  std::uint64_t begin, end;
  std::size_t first = 0, last = 0;
  bool checks = false;  ///< they are whole blocks whose checksums are to be compared
};

/// Checks that each request names a leaf of `origin`, with memory of its dtype and size. errc::invalid, errc::mismatch.
void check_requests(std::string_view origin, std::span<const stored_leaf> leaves,
                    std::span<const read_request> requests);

/// Reads the bytes of all steps. With `verify` it reads whole blocks, but for those that have been checked before, and
/// throws errc::corrupt after the first one that does not match its checksum: memory of the steps may then have
/// changed. O(n log n) for n steps, which may be in any order and overlap.
void read_blocks(const stored_checkpoint& checkpoint, std::vector<read_step> steps, bool verify, unsigned threads);

/// Compares the checksum of a block of the data section of a shard, which was found to be `found`. errc::corrupt names
/// file, byte and leaf.
void compare_block(const stored_shard& shard, std::uint64_t block, std::uint64_t found);

/// Reads and checks the blocks with these bytes that are not checked yet. errc::corrupt names file, byte and leaf.
void verify_blocks(const stored_checkpoint& checkpoint, std::span<const read_task> wanted, unsigned threads);

/// Reads leaves that are not encoded, boxes or runs of them. Errors: mismatch for memory of another dtype or size;
/// unsupported for an encoded leaf; corrupt, after which the memory may have changed, unless all had been verified.
void read_leaves(const stored_checkpoint& checkpoint, std::span<const read_request> requests,
                 const read_options& options = {});

/// Reads bytes of the data section of a shard, from `begin` on.
void read_stored(const stored_checkpoint& checkpoint, std::size_t shard, std::uint64_t begin, std::span<std::byte> out,
                 const read_options& options = {});

/// Checks every block of every shard that has not been checked yet; errc::corrupt names file, byte and leaf. A file
/// that Cairn did not write has no checksums, and passes. Threads: see read_options.
void verify(const stored_checkpoint& checkpoint, unsigned threads = 0);

/// Checks the blocks that hold the given leaves, as above.
void verify(const stored_checkpoint& checkpoint, std::span<const std::size_t> leaves, unsigned threads);

/// The stored bytes of one slice at a time, read in whole blocks when they are needed. Slices that are read in the
/// order of their shards share blocks, and a block that the next slice needs too is not read again. Holds the blocks of
/// one slice, and up to four of each of 256 windows used before: a shard has one for its encoded slices, and one for
/// the others. For one thread at a time.
class slice_window {
 public:
  explicit slice_window(const read_options& options) : options_(options) {}

  /// Moves to a slice of a checkpoint, and returns its bytes, which are there once `need` has read them. They stay
  /// until the next call.
  [[nodiscard]] std::span<const std::byte> move_to(const stored_checkpoint& from, const stored_slice& slice) {
    constexpr std::size_t most_windows = 256;
    const std::tuple key(&from, slice.shard, slice.encoded != nullptr);
    if (windows_.size() >= most_windows && !windows_.contains(key)) {
      windows_.clear();
      current_ = nullptr;
    }
    auto* const next = &windows_[key];
    if (current_ != nullptr && current_ != next && current_->is_read.size() > few)
      current_->move(current_->end() - few, current_->end(), spare_);
    current_ = next;
    from_ = &from;
    shard_ = slice.shard;
    begin_ = slice.begin;
    auto first = begin_ / block_bytes, last = block_count(slice.end());
    if (first < current_->first || last > current_->end()) {
      if (first > current_->first && first <= current_->end())
        first = std::max(current_->first, first - std::min(first, few));
      if (last >= current_->first && last < current_->end()) last = std::min(current_->end(), last + few);
      current_->move(first, last, spare_);
    }
    return current_->memory.bytes().subspan(begin_ - current_->first * block_bytes, slice.bytes);
  }

  /// Reads the blocks with bytes [begin, end) of the slice that are not there yet. Errors: as read_leaves.
  void need(std::size_t begin, std::size_t end) {
    if (begin == end) return;
    auto& now = *current_;
    const auto last = block_count(begin_ + end) - now.first;
    for (auto block = (begin_ + begin) / block_bytes - now.first; block < last; ++block) {
      if (now.is_read[block]) continue;
      auto next = block;
      while (next < last && !now.is_read[next]) ++next;
      const auto first_byte = (now.first + block) * block_bytes,
                 end_byte = std::min((now.first + next) * block_bytes, from_->shards[shard_].header.data_bytes);
      const auto to = now.memory.bytes().subspan(block * block_bytes, end_byte - first_byte);
      read_stored(*from_, shard_, first_byte, to, options_);
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

    [[nodiscard]] std::uint64_t end() const noexcept { return first + is_read.size(); }
    /// Has blocks [begin, last) from now on, in the memory of `spare`, which gets its own. Those that have been read
    /// stay so.
    void move(std::uint64_t begin, std::uint64_t last, page_buffer& spare) {
      const std::size_t bytes = (last - begin) * block_bytes;
      window now{last - begin > few ? std::exchange(spare, {}) : page_buffer(bytes), begin,
                 std::vector<bool>(last - begin)};
      static_cast<void>(now.memory.first(bytes));
      for (auto block = std::max(begin, first); block < std::min(last, end()); ++block) {
        if (!is_read[block - first]) continue;
        std::memcpy(now.memory.bytes().data() + (block - begin) * block_bytes,
                    memory.bytes().data() + (block - first) * block_bytes, block_bytes);
        now.is_read[block - begin] = true;
      }
      if (memory.bytes().size() > spare.bytes().size()) spare = std::move(memory);
      *this = std::move(now);
    }
  };

  read_options options_;
  /// By shard, and whether their slices are encoded: writers put these after the others.
  std::map<std::tuple<const stored_checkpoint*, std::size_t, bool>, window> windows_;
  page_buffer spare_;  // memory of the last large window
  window* current_ = nullptr;
  const stored_checkpoint* from_ = nullptr;
  std::size_t shard_ = 0;
  std::uint64_t begin_ = 0;
};

}  // namespace cairn::inline v0_1::detail
