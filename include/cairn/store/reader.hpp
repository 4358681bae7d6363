// SPDX-License-Identifier: MIT
// Reads one checkpoint: lists its leaves, and verifies and copies their stored bytes in parallel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/core/box.hpp"
#include "cairn/core/catalog.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/stored_checkpoint.hpp"

namespace cairn::inline v0_1::detail {

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

  /// Reads whole leaves that are not encoded into memory. Errors: mismatch for memory of another dtype or size;
  /// unsupported for an encoded leaf; corrupt, after which the memory may have changed, unless all had been verified.
  void read(std::span<const read_request> requests, const read_options& options = {}) const;

  /// The bytes of its data section.
  [[nodiscard]] std::uint64_t data_bytes(std::size_t shard) const { return opened_->shards[shard].header.data_bytes; }

  /// Reads bytes of the data section of a shard, from `begin` on.
  void read(std::size_t shard, std::uint64_t begin, std::span<std::byte> out, const read_options& options = {}) const;

  /// Reads the stored bytes of a slice, encoded or not, into memory of their number.
  void read(const stored_slice& slice, std::span<std::byte> out, const read_options& options = {}) const;

 private:
  explicit checkpoint_reader(std::shared_ptr<stored_checkpoint> opened);

  std::shared_ptr<stored_checkpoint> opened_;
};

}  // namespace cairn::inline v0_1::detail
