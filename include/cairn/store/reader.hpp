// SPDX-License-Identifier: MIT
// Reads one checkpoint: lists its leaves, and verifies and copies their stored bytes in parallel; of slices, in order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "cairn/core/box.hpp"
#include "cairn/core/catalog.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/index.hpp"
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
  unsigned threads = 0;  ///< 0: see default_threads
  bool verify = true;    ///< compare the checksums of all blocks that are read, unless they have been compared before
};

/// Checks that each request names a leaf of `origin`, with memory of its dtype and size. errc::invalid, errc::mismatch.
void check_requests(std::string_view origin, std::span<const stored_leaf> leaves,
                    std::span<const read_request> requests);

/// The request for all of leaf number `index`. errc::invalid when there is no such leaf, or `out` has another size.
[[nodiscard]] read_request request_for(std::string_view origin, std::span<const stored_leaf> leaves, std::size_t index,
                                       std::span<std::byte> out);

/// A published checkpoint. Opening reads the index; a shard is opened when needed. Thread-safe after construction.
class checkpoint_reader {
 public:
  /// Opens checkpoint `name`. `files` keeps its shards open, those of several checkpoints where these share it. Errors:
  /// not_found, corrupt, unsupported, io; each names the file.
  checkpoint_reader(const any_store& store, std::string_view name, std::shared_ptr<file_pool> files = {},
                    index_texts* texts = nullptr);

  /// Opens a single safetensors file, Cairn's or any other's. `origin` names it in messages.
  checkpoint_reader(std::unique_ptr<stores::source> file, std::string origin);

  [[nodiscard]] const catalog& contents() const noexcept { return opened_->contents; }
  [[nodiscard]] const checkpoint_info& info() const noexcept { return opened_->index.info; }
  [[nodiscard]] std::uint64_t step() const noexcept { return info().step; }
  [[nodiscard]] const std::map<std::string, double>& metrics() const noexcept { return info().metrics; }

  /// `fetch` of `contents` from now on. Call it before other threads use the reader.
  void set_fetch(std::function<void(std::size_t, std::span<std::byte>)> fetch) {
    opened_->contents.fetch = std::move(fetch);
  }

  /// Checks every block of every shard that has not been checked yet; errc::corrupt names file, byte and leaf. A file
  /// that Cairn did not write has no checksums, and passes. Threads: see read_options.
  void verify(unsigned threads = 0) const;

  /// Checks the blocks that hold the given leaves, as above.
  void verify(std::span<const std::size_t> leaves, unsigned threads = 0) const;

  /// How a leaf is stored, as the index says.
  [[nodiscard]] const leaf_storage& storage_of(std::size_t leaf) const noexcept { return opened_->index.storage[leaf]; }

  /// The slices of a part of a leaf, encoded or not: see stored_checkpoint.
  [[nodiscard]] std::vector<stored_slice> slices_of(std::size_t leaf, const leaf_part& part = {}) const {
    return opened_->slices_of(leaf, part);
  }
  [[nodiscard]] stored_slice slice_of(std::size_t leaf, placed_piece piece) const {
    return opened_->slice_of(leaf, std::move(piece));
  }

  /// Whether a slice of the leaf is encoded.
  [[nodiscard]] bool is_encoded(std::size_t leaf) const noexcept { return storage_of(leaf).encoded != nullptr; }
  /// Whether a slice of the leaf needs the parent checkpoint.
  [[nodiscard]] bool is_relative(std::size_t leaf) const noexcept {
    return is_encoded(leaf) && storage_of(leaf).encoded->relative;
  }

  [[nodiscard]] const std::string& file_of(const stored_slice& slice) const {
    return opened_->shards[slice.shard].where;
  }

  /// The checkpoint that this one is built on; null for a whole one.
  [[nodiscard]] const checkpoint_ref* parent() const noexcept {
    return opened_->index.parent ? &*opened_->index.parent : nullptr;
  }
  [[nodiscard]] std::uint64_t id() const noexcept { return checkpoint_id(opened_->index); }

  /// Whether this publication of checkpoint `name` has been removed, or another one followed it. False also where that
  /// cannot be found out.
  [[nodiscard]] bool is_outdated(const any_store& store, std::string_view name) const;

  [[nodiscard]] std::size_t shards() const noexcept { return opened_->shards.size(); }
  /// The code tables that the payloads of a shard name.
  [[nodiscard]] const stored_tables& tables_of(std::size_t shard) const {
    return opened_->shards[shard].metadata.tables;
  }
  /// Whether the header of the shard has been read.
  [[nodiscard]] bool is_parsed(std::size_t shard) const noexcept { return opened_->shards.if_parsed(shard) != nullptr; }

  /// Reads leaves that are not encoded, boxes or runs of them. Errors: mismatch for memory of another dtype or size;
  /// unsupported for an encoded leaf; corrupt, after which the memory may have changed, unless all had been verified.
  void read(std::span<const read_request> requests, const read_options& options = {}) const;

  /// Bytes of the data section of a shard.
  [[nodiscard]] std::uint64_t data_bytes(std::size_t shard) const { return opened_->shards[shard].header.data_bytes; }

  /// Reads bytes of the data section of a shard, from `begin` on.
  void read(std::size_t shard, std::uint64_t begin, std::span<std::byte> out, const read_options& options = {}) const;

  /// Reads the stored bytes of a slice, encoded or not, into memory of their number.
  void read(const stored_slice& slice, std::span<std::byte> out, const read_options& options = {}) const;

 private:
  explicit checkpoint_reader(std::shared_ptr<stored_checkpoint> opened);

  std::shared_ptr<stored_checkpoint> opened_;
};

/// Bytes [begin, end) of a shard's data section, which are those of `into` from byte `at` of its packed elements on.
struct read_step {
  std::size_t shard;
  std::uint64_t begin, end;
  const memory_view* into;
  std::uint64_t at;
};

/// Consecutive blocks [first, last) of a shard.
struct block_run {
  std::size_t shard;
  std::uint64_t first, last;
};

/// Reads the bytes of all steps. With `verify` it reads whole blocks, but for those that have been checked before, and
/// throws errc::corrupt after the first one that does not match its checksum: memory of the steps may then have
/// changed. O(n log n) for n steps, which may be in any order and overlap.
void read_blocks(const stored_checkpoint& checkpoint, std::vector<read_step> steps, bool verify, unsigned threads);

/// Reads and checks all blocks that are not checked yet before it returns. errc::corrupt names file, byte and leaf.
void verify_blocks(const stored_checkpoint& checkpoint, std::span<const block_run> runs, unsigned threads);

/// The stored bytes of one slice at a time, read in whole blocks when they are needed. Slices that are read in the
/// order of their shards share blocks, and a block that the next slice needs too is not read again. Holds the blocks of
/// one slice, and up to four of each of 256 windows used before: a shard has one for its encoded slices, and one for
/// the others. For one thread at a time.
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
